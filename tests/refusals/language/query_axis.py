import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def query_axis(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    j = ig.gid(1)  # refuse: IG141
    m = ig.gid(k[i])  # refuse: IG141
    y[i] = 0.0
