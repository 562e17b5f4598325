"""A tile is read before every thread has filled its place."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32


@ig.kernel(groups=1, block=8)
def reverse(x: In[i32, Literal[8]], y: Out[i32, Literal[8]]) -> None:
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = x[i]
    y[i] = s[7 - i]  # refuse: IG201
