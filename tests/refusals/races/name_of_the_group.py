"""A variable called `group` is not the group."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import N


@ig.func
def group(x):
    group = x
    if group > 2:
        group = 1
    return group


@ig.kernel(groups=(1, N), block=(1, 8))
def named(x: In[i32, N], y: Out[i32, N, Literal[64]]) -> None:
    a = group(3)
    b = group(ig.gid(1))
    y[0, a + b] = 1  # refuse: IG201
