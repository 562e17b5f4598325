"""The quotient is by 8 and the remainder by 4."""

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import M, N


@ig.kernel(grid=N, block=8)
def split(x: In[i32, N], y: Out[i32, M]) -> None:
    i = ig.gid()
    y[(i // 8) * 4 + i % 4] = 1  # refuse: IG201
