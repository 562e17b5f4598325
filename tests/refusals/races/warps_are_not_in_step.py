"""The last steps of a reduction rely on threads that move together."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32


@ig.kernel(groups=1, block=8)
def total(x: In[i32, Literal[8]], y: Out[i32, Literal[1]]) -> None:
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = x[i]
    ig.barrier()
    if i < 4:
        s[i] += s[i + 4]
        s[i] += s[(i + 2) % 4]  # refuse: IG201
    if i == 0:
        y[0] = s[0]
