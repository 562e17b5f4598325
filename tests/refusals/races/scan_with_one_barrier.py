"""The sum is stored while others still read the old value."""

from typing import Literal

import isogrid as ig
from isogrid import InOut, i32


@ig.kernel(groups=1, block=8)
def scan(x: InOut[i32, Literal[8]]) -> None:
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = x[i]
    ig.barrier()
    d = 1
    while d < 8:
        v = s[i - d] if i >= d else 0
        s[i] += v  # refuse: IG201
        ig.barrier()
        d *= 2
    x[i] = s[i]
