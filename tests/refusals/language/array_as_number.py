import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def array_as_number(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x + 1.0  # refuse: IG157
    if y > 0.0:  # refuse: IG157
        pass
    t = (1.0, 2.0)
    y[i] = t * 2.0  # refuse: IG157
    v = f32 + 1  # refuse: IG157
    w = i[0]  # refuse: IG157
    y[i] = "a"  # refuse: IG157
