"""Interiors of lanes whose bounds lie far outside the launch: no lane beyond the last may run."""

import numpy as np

import isogrid as ig
from isogrid import InOut, i64
from isogrid.dims import N


@ig.kernel(grid=N)
def far_below(y: InOut[i64, N]) -> None:
    i = ig.gid()
    y[i] = ig.clamp(i - 9223372036854775806, 0, 2)


@ig.kernel(grid=N)
def far_above(y: InOut[i64, N]) -> None:
    i = ig.gid()
    y[i] = ig.clamp(i + 4611686018427387904, 0, 2)


def test_clamps_of_far_indices() -> None:
    for size in (1, 7, 100):
        for kernel, wanted in ((far_below, 0), (far_above, 2)):
            room = np.full(size + 64, -1, np.int64)
            kernel.on("cpu")(room[:size])
            assert (room[:size] == wanted).all()
            assert (room[size:] == -1).all()
