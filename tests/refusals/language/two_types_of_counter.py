import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def two_types_of_counter(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    for j in range(N):
        y[j] = 0.0
    for j in range(k[i]):  # refuse: IG107
        y[j] = 1.0
