"""Each step of a scan reads what other threads write in the same step."""

from typing import Literal

import isogrid as ig
from isogrid import InOut, i32


@ig.kernel(groups=1, block=8)
def scan(x: InOut[i32, Literal[8]]) -> None:
    i = ig.lid()
    d = 1
    while d < 8:
        if i >= d:
            x[i] += x[i - d]  # refuse: IG201
        ig.barrier()
        d *= 2
