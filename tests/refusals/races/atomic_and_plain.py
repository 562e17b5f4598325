"""A plain read of what others update atomically."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, Out, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=8)
def count(x: In[i32, N], c: InOut[i32, Literal[1]], y: Out[i32, N]) -> None:
    ig.atomic_add(c, 0, x[ig.gid()])
    y[ig.gid()] = c[0]  # refuse: IG201
