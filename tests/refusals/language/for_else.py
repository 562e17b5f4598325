import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def for_else(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    for j in range(4):  # refuse: IG103
        if x[j] < 0.0:
            break
    else:
        y[i] = 0.0
