"""Four threads share each slot."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32


@ig.kernel(groups=1, block=8)
def slots(x: In[i32, Literal[8]], y: Out[i32, Literal[8]]) -> None:
    s = ig.shared(i32, 2)
    i = ig.lid()
    s[i // 4] = x[i]  # refuse: IG201
    ig.barrier()
    y[i] = s[i // 4]
