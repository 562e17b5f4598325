import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import M, N


@ig.func
def first(v: In[f32, N]) -> f32:
    return v[int(M) - 1]  # refuse: IG155


@ig.kernel(grid=N)
def unbound_dimension(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = f32(int(M)) + first(x)  # refuse: IG155
