"""The kernel that `isogrid doctor` runs on every device."""

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=256)
def double(x: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] * 2
