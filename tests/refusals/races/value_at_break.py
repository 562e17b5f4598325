"""What is assigned before a `break` differs, though the loop's end sees it equal."""

from typing import Literal

import isogrid as ig
from isogrid import Out, i32


@ig.kernel(groups=1, block=8)
def broken(n: i32, y: Out[i32, Literal[64]]) -> None:
    lid = ig.lid()
    v = 0
    for k in range(n):
        ig.barrier()
        if k == 3:
            v = lid
            break
        v = 0
    y[lid - v] = 1  # refuse: IG202
