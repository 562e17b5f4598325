"""Two writes of one value are still two writes."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=8)
def any_three(x: In[i32, N], flag: Out[i32, Literal[1]]) -> None:
    if x[ig.gid()] == 3:
        flag[0] = 1  # refuse: IG201
