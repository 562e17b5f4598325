"""The second half of a scan has no barrier in its loop."""

from typing import Literal

import isogrid as ig
from isogrid import InOut, i32


@ig.kernel(groups=1, block=4)
def down_sweep(x: InOut[i32, Literal[8]]) -> None:
    i = ig.lid()
    offset = 4
    d = 1
    while d < 8:
        if i < d:
            a = offset * (2 * i + 1) - 1
            b = offset * (2 * i + 2) - 1
            t = x[a]
            x[a] = x[b]
            x[b] += t  # refuse: IG201
        offset //= 2
        d *= 2
