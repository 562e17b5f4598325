"""The stride is a scalar, and zero is one of its values."""

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import M, N


@ig.kernel(grid=N, block=4)
def spread(k: i32, x: In[i32, N], y: Out[i32, M]) -> None:
    y[ig.gid() * k] = x[ig.gid()]  # refuse: IG201
