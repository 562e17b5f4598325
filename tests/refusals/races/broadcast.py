"""The leader's value is read before it is written."""

import isogrid as ig
from isogrid import In, Out, i32


class G(ig.Dim):
    """Number of groups."""


class G8(ig.Dim, equals=G * 8):
    """Elements of G groups of 8."""


@ig.kernel(groups=G, block=8)
def spread(x: In[i32, G], y: Out[i32, G8]) -> None:
    s = ig.shared(i32, 1)
    if ig.lid() == 0:
        s[0] = x[ig.group_id()]
    y[ig.gid()] = s[0]  # refuse: IG201
