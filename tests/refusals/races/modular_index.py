"""A w32 wraps: two thread numbers 2^32 apart are one."""

import isogrid as ig
from isogrid import In, InOut, i32
from isogrid.dims import M, N


@ig.kernel(grid=N, block=8)
def hashed(x: In[i32, N], y: InOut[i32, M]) -> None:
    h = ig.w32(ig.gid()) * 2654435761
    y[h % ig.w32(M)] = 1  # refuse: IG202
