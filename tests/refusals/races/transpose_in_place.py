"""Thread (r, c) writes what thread (c, r) reads."""

import isogrid as ig
from isogrid import InOut, i32
from isogrid.dims import N


@ig.kernel(grid=(N, N), block=(2, 4))
def transpose(x: InOut[i32, N, N]) -> None:
    r, c = ig.gids()
    x[r, c] = x[c, r]  # refuse: IG201
