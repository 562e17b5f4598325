"""The next tile is loaded while slow threads still read the last one."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import N


@ig.kernel(groups=1, block=4)
def tiles(x: In[i32, N], y: Out[i32, Literal[4]]) -> None:
    s = ig.shared(i32, 4)
    i = ig.lid()
    total = i32(0)
    for t in range(N // 4):
        s[i] = x[4 * t + i]  # refuse: IG201
        ig.barrier()
        for j in range(4):
            total += s[j]
    y[i] = total
