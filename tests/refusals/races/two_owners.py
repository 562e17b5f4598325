"""The owner of a pair is not one of the two."""

from typing import Literal

import isogrid as ig
from isogrid import InOut, i32


@ig.kernel(groups=1, block=8)
def exchange(x: InOut[i32, Literal[8]]) -> None:
    i = ig.lid()
    j = i ^ 1
    if x[i] > x[j]:
        t = x[i]
        x[i] = x[j]
        x[j] = t  # refuse: IG201
