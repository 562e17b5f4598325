import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def bad_unroll(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    for j in ig.unroll(range(4), k[i]):  # refuse: IG145
        pass
    for j in ig.unroll(range(4), 0):  # refuse: IG145
        pass
    v = ig.unroll(i > 0, 2)  # refuse: IG145
    y[i] = 0.0
