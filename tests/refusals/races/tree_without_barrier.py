"""The halves of a reduction are not separated from trip to trip."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32


@ig.kernel(groups=1, block=8)
def total(x: In[i32, Literal[8]], y: Out[i32, Literal[1]]) -> None:
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = x[i]
    ig.barrier()
    h = 4
    while h > 0:
        if i < h:
            s[i] += s[i + h]  # refuse: IG201
        h //= 2
    if i == 0:
        y[0] = s[0]
