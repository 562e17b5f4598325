import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def array_precondition(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    ig.require(ig.distinct(k))  # refuse: IG102
    i = ig.gid()
    y[i] = x[k[i]]
