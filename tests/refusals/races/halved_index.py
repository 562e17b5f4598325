"""Two threads share each half."""

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import M, N


@ig.kernel(grid=N, block=8)
def halve(x: In[i32, N], y: Out[i32, M]) -> None:
    y[ig.gid() // 2] = x[ig.gid()]  # refuse: IG201
