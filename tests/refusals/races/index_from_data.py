"""Nothing says that the entries of `p` differ."""

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=8)
def scatter(x: In[i32, N], p: In[i32, N], y: Out[i32, N]) -> None:
    y[p[ig.gid()]] = x[ig.gid()]  # refuse: IG201
