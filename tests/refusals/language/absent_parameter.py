import isogrid as ig
from isogrid import In, Out, f32
from isogrid.dims import M, N


@ig.kernel(grid=N)
def absent_parameter(x: In[f32, N], y: Out[f32, N], bias: In[f32, M] | None = None) -> None:
    i = ig.gid()
    y[i] = x[i] + bias[0]  # refuse: IG154
