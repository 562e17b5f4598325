import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def bad_range(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    for j in range(0, 4, 0):  # refuse: IG136
        pass
    for j in range(x[i]):  # refuse: IG136
        pass
    for j in range(1, 2, 3, 4):  # refuse: IG136
        pass
    for t in range(0.0, 1.0, 0.1):  # refuse: IG136
        y[i] = t
    y[i] = 0.0
