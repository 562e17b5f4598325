"""Different atomic operations on one element have no order."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=8)
def mixed(x: In[i32, N], c: InOut[i32, Literal[1]]) -> None:
    ig.atomic_add(c, 0, x[ig.gid()])
    ig.atomic_max(c, 0, x[ig.gid()])  # refuse: IG201
