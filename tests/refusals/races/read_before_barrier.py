"""The barrier comes one line too late."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32


@ig.kernel(groups=1, block=8)
def shift(x: In[i32, Literal[8]], y: Out[i32, Literal[8]]) -> None:
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = x[i]
    v = s[(i + 1) % 8]  # refuse: IG201
    ig.barrier()
    y[i] = v
