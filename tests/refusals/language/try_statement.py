import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def try_statement(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    try:  # refuse: IG100
        y[i] = 1.0 / x[i]
    except ZeroDivisionError:
        y[i] = 0.0
