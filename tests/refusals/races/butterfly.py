"""A transform without a barrier between its levels."""

from typing import Literal

import isogrid as ig
from isogrid import InOut, i32


@ig.kernel(groups=1, block=4)
def walsh(x: InOut[i32, Literal[8]]) -> None:
    t = ig.lid()
    h = 1
    while h < 8:
        i = (t // h) * 2 * h + t % h
        u = x[i]
        v = x[i + h]
        x[i] = u + v
        x[i + h] = u - v  # refuse: IG201
        h *= 2
