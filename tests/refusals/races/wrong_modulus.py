"""`% h` should be `% (2 * h)`: the partner is an owner too."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32


@ig.kernel(groups=1, block=8)
def total(x: In[i32, Literal[8]], y: Out[i32, Literal[1]]) -> None:
    s = ig.shared(i32, 16)
    i = ig.lid()
    s[i] = x[i]
    ig.barrier()
    h = 1
    while h < 8:
        if i % h == 0:
            s[i] += s[i + h]  # refuse: IG201
        ig.barrier()
        h *= 2
    if i == 0:
        y[0] = s[0]
