"""Threads that returned from the helper in one trip are missing from the barrier of the next."""

import isogrid as ig
from isogrid import Out, i32
from isogrid.dims import N


@ig.func
def rounds(n: i32) -> None:
    k = 0
    while k < n:
        ig.barrier()  # refuse: IG302
        k += 1
        if ig.lid() < k:
            return


@ig.kernel(groups=1, block=8)
def helper_returns_in_a_loop(n: i32, y: Out[i32, N]) -> None:
    rounds(n)
    if ig.lid() < N:
        y[ig.lid()] = n
