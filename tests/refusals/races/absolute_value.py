"""Two threads lie at one distance from the middle."""

from typing import Literal

import isogrid as ig
from isogrid import Out, i32


@ig.kernel(groups=1, block=8)
def distance(y: Out[i32, Literal[8]]) -> None:
    y[abs(ig.lid() - 3)] = 1  # refuse: IG201
