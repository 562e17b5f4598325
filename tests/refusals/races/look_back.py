"""A group reads what the group before it writes."""

import isogrid as ig
from isogrid import In, InOut, i32


class G(ig.Dim):
    """Number of groups."""


class G8(ig.Dim, equals=G * 8):
    """Elements of G groups of 8."""


@ig.kernel(groups=G, block=8)
def running(x: In[i32, G], y: InOut[i32, G]) -> None:
    g = ig.group_id()
    if ig.lid() == 0:
        y[g] = x[g] + (y[g - 1] if g > 0 else 0)  # refuse: IG201
