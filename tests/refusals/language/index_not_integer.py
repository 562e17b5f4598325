import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def index_not_integer(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[x[i]]  # refuse: IG120
    y[i > 0] = 0.0  # refuse: IG120
    y[0.0] = 0.0  # refuse: IG120
