"""A kernel with a type variable, a constant dimension and a tunable."""

import isogrid as ig
from isogrid import InOut
from isogrid.dims import N


class D(ig.Dim, const=True):
    """How many rows."""


BLOCK = ig.tunable(64, 128)


@ig.kernel(grid=N, block=BLOCK)
def scale(x: InOut[ig.Real, D, N]) -> None:
    i = ig.gid()
    for row in range(D):
        x[row, i] = x[row, i] * x[row, i]
