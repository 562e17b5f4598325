"""A counter without an atomic loses counts."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=8)
def count(x: In[i32, N], c: InOut[i32, Literal[1]]) -> None:
    if x[ig.gid()] > 3:
        c[0] += 1  # refuse: IG201
