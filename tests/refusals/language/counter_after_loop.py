import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def counter_after_loop(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    for j in range(k[i]):
        y[j] = 0.0
    y[i] = x[j]  # refuse: IG106
