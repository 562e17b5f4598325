"""The last thread's neighbour is the first."""

import isogrid as ig
from isogrid import Out, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=8)
def both(y: Out[i32, N]) -> None:
    i = ig.gid()
    y[i] = 1
    y[(i + 1) % N] = 2  # refuse: IG201
