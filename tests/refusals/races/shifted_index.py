"""A right shift lets two threads share an element."""

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import M, N


@ig.kernel(grid=N, block=8)
def halve(x: In[i32, N], y: Out[i32, M]) -> None:
    y[ig.gid() >> 1] = x[ig.gid()]  # refuse: IG201
