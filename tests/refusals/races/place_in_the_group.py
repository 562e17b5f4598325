"""Each group writes the same eight elements."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=8)
def partial(x: In[i32, N], y: Out[i32, Literal[8]]) -> None:
    y[ig.lid()] = x[ig.gid()]  # refuse: IG201
