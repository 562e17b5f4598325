import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def raise_statement(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    if x[i] < 0.0:
        raise ValueError("negative")  # refuse: IG100
    y[i] = x[i]
