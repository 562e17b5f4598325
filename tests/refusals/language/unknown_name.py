import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


scale = 2.0


@ig.kernel(grid=N)
def unknown_name(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = sacle * x[i]  # refuse: IG105
    y[i] = ig.gidd()  # refuse: IG105
