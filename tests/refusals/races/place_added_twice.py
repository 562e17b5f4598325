"""gid + lid counts the place in the group twice."""

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import M, N


@ig.kernel(grid=N, block=4)
def copy(x: In[i32, N], y: Out[i32, M]) -> None:
    y[ig.gid() + ig.lid()] = 1  # refuse: IG201
