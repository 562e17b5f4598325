import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def shape_not_constant(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    a = ig.local(f32, k[i])  # refuse: IG134
    b = ig.local(f32, N)  # refuse: IG134
    c = ig.local(f32, 0)  # refuse: IG134
    d = ig.local(f32, (65536, 65536))  # refuse: IG134
    e = ig.local(f32, 2.5)  # refuse: IG134
    g = ig.local(f32, (1, 1, 1, 1, 1))  # refuse: IG134
    y[i] = 0.0
