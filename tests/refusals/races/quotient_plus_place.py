"""Quotient and remainder tell threads apart, but the quotient is moved by a place that differs."""

import isogrid as ig
from isogrid import Out, i32
from isogrid.dims import H, W


@ig.kernel(groups=1, block=4)
def split(d: i32, y: Out[i32, H, W]) -> None:
    ig.require(d > 0)
    i = ig.lid()
    ig.barrier()
    y[i // d + (4 - i) // 2, i % d] = 1  # refuse: IG201
