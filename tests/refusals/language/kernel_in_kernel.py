import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def other(y: Out[f32, N]) -> None:
    y[ig.gid()] = 0.0


@ig.kernel(grid=N)
def kernel_in_kernel(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    other(y)  # refuse: IG149
    y[i] = x[i]
