"""A helper returns between two barriers of its loop."""

from typing import Literal

import isogrid as ig
from isogrid import Out, i32


@ig.func
def fill(s, lid, n):
    for k in range(n):
        ig.barrier()
        s[lid] = k
        if k == 3:
            return 1
        ig.barrier()
    return 0


@ig.kernel(groups=1, block=8)
def between(n: i32, y: Out[i32, Literal[64]]) -> None:
    lid = ig.lid()
    s = ig.shared(i32, 9)
    r = fill(s, lid, n)
    if r == 1:
        y[lid] = s[(lid + 1) % 8]  # refuse: IG202
