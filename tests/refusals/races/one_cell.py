"""Every thread writes one element."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=8)
def last(x: In[i32, N], y: Out[i32, Literal[1]]) -> None:
    y[0] = x[ig.gid()]  # refuse: IG201
