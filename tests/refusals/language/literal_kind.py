import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def literal_kind(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    v = k[i] * 1.5  # refuse: IG112
    w = k[i] + 1.0  # refuse: IG112
    flag = x[i] > 0.0
    if flag == 1:  # refuse: IG112
        y[i] = 0.0
    u = k[i] + True  # refuse: IG112
