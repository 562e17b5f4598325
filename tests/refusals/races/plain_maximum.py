"""Compare and store are two steps; another thread may come between."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def largest(x: In[i32, N], best: InOut[i32, Literal[1]]) -> None:
    v = x[ig.gid()]
    if v > best[0]:
        best[0] = v  # refuse: IG201
