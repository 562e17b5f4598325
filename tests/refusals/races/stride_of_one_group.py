"""The stride is the group and not the grid."""

import isogrid as ig
from isogrid import In, InOut, i32
from isogrid.dims import K, N


@ig.kernel(grid=K, block=4)
def fill(k: In[i32, K], y: InOut[i32, N]) -> None:
    i = ig.gid()
    while i < N:
        y[i] = i  # refuse: IG201
        i += ig.group_size()
