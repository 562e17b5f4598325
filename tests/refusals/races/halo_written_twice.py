"""The halo cell at the right edge belongs to two threads."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32


@ig.kernel(groups=1, block=4)
def halo(x: In[i32, Literal[8]], y: Out[i32, Literal[4]]) -> None:
    s = ig.shared(i32, 6)
    i = ig.lid()
    s[i + 1] = x[i]
    if i >= 2:
        s[5] = x[i + 4]  # refuse: IG201
    ig.barrier()
    y[i] = s[i] + s[i + 2]
