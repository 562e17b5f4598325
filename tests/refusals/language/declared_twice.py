import isogrid as ig
from isogrid import In, Out, f32, f64, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def declared_twice(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    v = k[i]  # refuse: IG107
    v: f32 = 1.0
    w: f32 = 1.0
    w: f64 = 1.0  # refuse: IG107
    y[i] = v + w
