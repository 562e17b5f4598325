"""One buffer serves both the old and the new values."""

from typing import Literal

import isogrid as ig
from isogrid import InOut, i32


@ig.kernel(groups=1, block=8)
def jacobi(steps: i32, x: InOut[i32, Literal[8]]) -> None:
    i = ig.lid()
    for t in range(steps):
        x[i] = x[(i + 1) % 8] + x[(i + 7) % 8]  # refuse: IG201
        ig.barrier()
