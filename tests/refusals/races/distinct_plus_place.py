"""The entries of `p` differ, and so do the places, but not their sums."""

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import M, N


@ig.kernel(groups=1, block=8)
def scatter(p: In[i32, N], y: Out[i32, M]) -> None:
    ig.require(ig.distinct(p))
    i = ig.lid()
    if i < N:
        y[p[i] + i] = 1  # refuse: IG201
