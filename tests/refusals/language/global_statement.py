import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


COUNT = 0


@ig.kernel(grid=N)
def global_statement(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    global COUNT  # refuse: IG100
    y[i] = x[i]
