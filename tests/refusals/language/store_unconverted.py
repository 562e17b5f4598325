import isogrid as ig
from isogrid import In, Out, f32, f64, i32, u8
from isogrid.dims import N


@ig.kernel(grid=N)
def store_unconverted(
    x: In[f32, N], k: In[i32, N], d: In[f64, N], b: Out[u8, N], o: Out[i32, N], y: Out[f32, N]
) -> None:
    i = ig.gid()
    y[i] = k[i]  # refuse: IG115
    b[i] = x[i]  # refuse: IG115
    o[i] = x[i]  # refuse: IG115
    o[i] = 1.5  # refuse: IG115
    y[i] = d[i]  # refuse: IG115
    y[i] = x[i] > 0.0  # refuse: IG115
