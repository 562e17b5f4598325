import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def constant_without_value(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    v = 1 // 0  # refuse: IG113
    w = 10**100000  # refuse: IG113
    u = 1.0 << 2  # refuse: IG113
    t = (-8) ** 0.5  # refuse: IG113
    y[i] = 0.0
