import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def while_else(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    j = 0
    while j < 4:  # refuse: IG103
        j += 1
    else:
        y[i] = 0.0
