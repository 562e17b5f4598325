"""The sum of a group is read before the last step of the tree is done."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, f32


@ig.kernel(groups=1, block=8)
def total(x: In[f32, Literal[8]], y: Out[f32, Literal[8]]) -> None:
    part = ig.shared(f32, 8)
    i = ig.lid()
    part[i] = x[i]
    half = 4
    while half > 0:
        ig.barrier()
        if i < half:
            part[i] += part[i + half]
        half //= 2
    y[i] = x[i] / part[0]  # refuse: IG201
