"""Red and black are updated together."""

from typing import Literal

import isogrid as ig
from isogrid import InOut, i32


@ig.kernel(groups=1, block=4)
def red_black(x: InOut[i32, Literal[10]]) -> None:
    i = 2 * ig.lid() + 1
    x[i] = x[i - 1] + x[i + 1]
    x[i + 1] = x[i] + x[i + 1]  # refuse: IG201
