"""A loop counter that the body assigned keeps what it was given."""

from typing import Literal

import isogrid as ig
from isogrid import Out, i32


@ig.kernel(groups=1, block=8)
def assigned(n: i32, y: Out[i32, Literal[64]]) -> None:
    lid = ig.lid()
    k = i32(0)
    for k in range(n):
        ig.barrier()
        k = i32(lid)
    y[lid - k] = 1  # refuse: IG202
