import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


scale = 2.0


@ig.kernel(grid=N)
def local_hides_global(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = scale * x[i]  # refuse: IG106
    scale = 1.0
