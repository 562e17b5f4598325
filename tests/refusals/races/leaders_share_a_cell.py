"""The leader of each group writes one element for the whole launch."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32


class G(ig.Dim):
    """Number of groups."""


class G8(ig.Dim, equals=G * 8):
    """Elements of G groups of 8."""


@ig.kernel(groups=G, block=8)
def total(x: In[i32, G8], g: In[i32, G], y: Out[i32, Literal[1]]) -> None:
    t = ig.group_sum(x[ig.gid()])
    if ig.lid() == 0:
        y[0] = t  # refuse: IG201
