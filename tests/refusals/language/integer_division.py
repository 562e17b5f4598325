import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def integer_division(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = f32(k[i] / 2)  # refuse: IG110
    v = i / (k[i] + 1)  # refuse: IG110
    w = 1
    w /= 2  # refuse: IG110
