"""`<=` lets two threads reach the shared edge."""

from typing import Literal

import isogrid as ig
from isogrid import Out, i32


@ig.kernel(groups=1, block=8)
def edge(y: Out[i32, Literal[8]]) -> None:
    i = ig.lid()
    if i <= 4:
        y[i] = 1
    if i >= 4:
        y[i - 4] = 2  # refuse: IG201
