import isogrid as ig
from isogrid import In, Out, f32
from isogrid.dims import N


@ig.kernel(grid=N)
def require_of_thread(x: In[f32, N], y: Out[f32, N]) -> None:
    ig.require(ig.gid() < 4)  # refuse: IG144
    ig.require(x[0] > 0.0)  # refuse: IG144
    ig.require(N)  # refuse: IG104
    i = ig.gid()
    y[i] = x[i]
