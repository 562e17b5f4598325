import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def assigned_in_loop_only(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    while x[i] > 1.0:
        v = x[i]
        break
    y[i] = v  # refuse: IG106
