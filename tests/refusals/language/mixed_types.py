import isogrid as ig
from isogrid import In, Out, f32, f64, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def mixed_types(x: In[f32, N], k: In[i32, N], d: In[f64, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] * k[i]  # refuse: IG108
    y[i] = x[i] + d[i]  # refuse: IG108
    if k[i] < d[i]:  # refuse: IG108
        y[i] = 0.0
    v = x[i] if i > 0 else d[i]  # refuse: IG108
    w = min(x[i], d[i])  # refuse: IG108
