import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def unpacking(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    a, b = x[i]  # refuse: IG137
    c, d = (1, 2, 3)  # refuse: IG137
    e, f = ig.gids()  # refuse: IG137
    y[i] = 0.0
