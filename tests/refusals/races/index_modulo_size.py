"""A remainder comes back to the same element."""

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import K, N


@ig.kernel(grid=N, block=8)
def wrap(x: In[i32, N], y: Out[i32, K]) -> None:
    y[ig.gid() % K] = x[ig.gid()]  # refuse: IG201
