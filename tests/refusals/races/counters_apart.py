"""A `break` between two increments leaves the counters different."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32


@ig.kernel(groups=1, block=8)
def apart(n: i32, x: In[i32, Literal[8]], y: Out[i32, Literal[64]]) -> None:
    lid = ig.lid()
    i = 0
    j = 0
    while i < n:
        i += 1
        if x[lid] > 0:
            break
        j += 1
    y[lid + i - j] = 1  # refuse: IG202
