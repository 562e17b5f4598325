"""Nothing orders the partial sums before the group that reads them."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, Out, i32


class G(ig.Dim):
    """Number of groups."""


class G8(ig.Dim, equals=G * 8):
    """Elements of G groups of 8."""


@ig.kernel(groups=G, block=8)
def total(x: In[i32, G8], part: InOut[i32, G], y: Out[i32, Literal[1]]) -> None:
    t = ig.group_sum(x[ig.gid()])
    if ig.lid() == 0:
        part[ig.group_id()] = t
    ig.barrier()
    if ig.gid() == 0:
        s = i32(0)
        for g in range(ig.num_groups()):
            s += part[g]  # refuse: IG201
        y[0] = s
