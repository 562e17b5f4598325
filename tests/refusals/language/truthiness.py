import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def truthiness(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    if k[i]:  # refuse: IG104
        y[i] = x[i]
    while 1:  # refuse: IG104
        break
    v = not x[i]  # refuse: IG104
    w = k[i] and i > 0  # refuse: IG104
    assert i  # refuse: IG104
    u = 1.0 if i else 0.0  # refuse: IG104
