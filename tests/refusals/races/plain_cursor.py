"""A cursor without an atomic hands out one place twice."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=8)
def compact(x: In[i32, N], c: InOut[i32, Literal[1]], y: InOut[i32, N]) -> None:
    if x[ig.gid()] > 0:
        y[c[0]] = x[ig.gid()]  # refuse: IG202
        c[0] += 1  # refuse: IG201
