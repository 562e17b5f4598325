"""A sort without a barrier between its rounds."""

import isogrid as ig
from isogrid import InOut, i32
from isogrid.dims import N


@ig.kernel(groups=1, block=4)
def sort(x: InOut[i32, N]) -> None:
    for t in range(N):
        i = 2 * ig.lid() + t % 2
        if i + 1 < N:
            u = x[i]
            x[i] = min(u, x[i + 1])
            x[i + 1] = max(u, x[i + 1])  # refuse: IG201
