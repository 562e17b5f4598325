import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def maybe_unassigned(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    if k[i] > 0:
        v = x[i]
    y[i] = v  # refuse: IG106
