import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def bool_arithmetic(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    flag = x[i] > 0.0
    y[i] = x[i] * flag  # refuse: IG108
    v = flag + flag  # refuse: IG109
    w = -flag  # refuse: IG109
    u = ~flag  # refuse: IG109
    t = flag < flag  # refuse: IG109
    s = +flag  # refuse: IG109
