"""Each thread reads the element that its neighbour writes."""

import isogrid as ig
from isogrid import InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=8)
def shift(x: InOut[i32, N]) -> None:
    i = ig.gid()
    if i + 1 < N:
        x[i] = x[i + 1]  # refuse: IG201
