import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def two_kinds(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    v = x[i]
    v = (1.0, 2.0)  # refuse: IG107
    w = x
    w = 1.0  # refuse: IG107
    p = (1, 2)
    for p in range(3):  # refuse: IG107
        y[i] = f32(p)
    z = x
    for z in range(3):  # refuse: IG107
        y[i] = f32(z)
    y[i] = 0.0
