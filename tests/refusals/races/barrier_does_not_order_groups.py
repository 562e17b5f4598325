"""The halo of a group is another group's to write."""

import isogrid as ig
from isogrid import InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=4)
def shift(x: InOut[i32, N]) -> None:
    i = ig.gid()
    v = i32(0)
    if i + 1 < N:
        v = x[i + 1]
    ig.barrier()
    if i < N:
        x[i] = v  # refuse: IG201
