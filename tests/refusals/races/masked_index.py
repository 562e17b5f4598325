"""A mask keeps two bits of the thread."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=8)
def wrap(x: In[i32, N], y: Out[i32, Literal[4]]) -> None:
    y[ig.gid() & 3] = x[ig.gid()]  # refuse: IG201
