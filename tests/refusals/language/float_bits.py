import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def float_bits(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    v = x[i] & x[i]  # refuse: IG109
    w = x[i] << 1  # refuse: IG109
    u = k[i] << x[i]  # refuse: IG109
    t = ~x[i]  # refuse: IG109
    y[i] = 0.0
