"""Counting in shared memory needs atomic updates too: threads of a group meet in a bin."""

import isogrid as ig
from isogrid import In, InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=64)
def histogram(x: In[i32, N], bins: InOut[i32, 16]) -> None:
    mine = ig.shared(i32, 16)
    i = ig.gid()
    if i < N:
        mine[x[i] & 15] += 1  # refuse: IG201
    ig.barrier()
    if ig.lid() < 16:
        ig.atomic_add(bins, ig.lid(), mine[ig.lid()])
