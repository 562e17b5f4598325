"""The test that ends a loop reads after the last barrier in it."""

from typing import Literal

import isogrid as ig
from isogrid import Out, i32


@ig.kernel(groups=1, block=8)
def after(y: Out[i32, Literal[8]]) -> None:
    lid = ig.lid()
    s = ig.shared(i32, 1)
    while s[0] < 5:
        ig.barrier()
        if lid == 0:
            s[0] += 1
        ig.barrier()
    if lid == 1:
        s[0] = 100  # refuse: IG201
    y[lid] = 1
