"""A tile of pitch 3 for rows of 4 lets rows overlap."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32


@ig.kernel(groups=(1, 1), block=(4, 4))
def tile(x: In[i32, Literal[4], Literal[4]], y: Out[i32, Literal[4], Literal[4]]) -> None:
    s = ig.shared(i32, 13)
    r, c = ig.lids()
    s[r * 3 + c] = x[r, c]  # refuse: IG201
    ig.barrier()
    y[r, c] = s[c * 3 + r]
