"""Two threads may find the same bin."""

import isogrid as ig
from isogrid import In, InOut, i32
from isogrid.dims import M, N


@ig.kernel(grid=N, block=8)
def histogram(x: In[i32, N], h: InOut[i32, M]) -> None:
    h[x[ig.gid()]] += 1  # refuse: IG201
