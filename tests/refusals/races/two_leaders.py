"""The guard lets two threads through."""

import isogrid as ig
from isogrid import In, Out, i32


class G(ig.Dim):
    """Number of groups."""


class G8(ig.Dim, equals=G * 8):
    """Elements of G groups of 8."""


@ig.kernel(groups=G, block=8)
def leaders(x: In[i32, G8], y: Out[i32, G]) -> None:
    if ig.lid() % 4 == 0:
        y[ig.group_id()] = x[ig.gid()]  # refuse: IG201
