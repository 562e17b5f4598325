import isogrid as ig
from isogrid import f32
from isogrid.dims import N


@ig.kernel(grid=N)
def update_of_out(x: ig.In[f32, N], y: ig.Out[f32, N]) -> None:
    i = ig.gid()
    y[i] += x[i]  # refuse: IG118
