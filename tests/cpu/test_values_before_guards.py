"""Values that a region computes before a guard and a later region reads: also threads that it leaves out need them."""

from typing import Any, Literal

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, Out, i32, i64
from isogrid.dims import N


@ig.kernel(grid=N, block=32)
def behind_uniform_condition(x: In[i32, Literal[4]], y: Out[i64, N]) -> None:
    i = ig.gid()
    t = ig.lid()
    cell = ig.shared(i64, 32)
    cell[t] = 5 * t
    ig.barrier()
    kept = cell[(t + 23) % 32]
    if x[3] == 2:
        assert x[t % 4] != 9
    ig.barrier()
    if i < N:
        y[i] = kept


@ig.kernel(grid=N, block=32)
def behind_bound(x: In[i32, Literal[4]], y: Out[i64, N]) -> None:
    i = ig.gid()
    t = ig.lid()
    cell = ig.shared(i64, 32)
    cell[t] = 5 * t
    ig.barrier()
    kept = cell[(t + 23) % 32]
    if t < x[3]:
        assert x[t % 4] != 9
    ig.barrier()
    if i < N:
        y[i] = kept


@pytest.mark.parametrize("kernel", [behind_uniform_condition, behind_bound])
def test_kept_values(kernel: Any) -> None:
    for third in (0, 2, 6):
        for size in (1, 7, 33, 70):
            x = np.array([1, 3, 4, third], np.int32)
            y = np.full(size, -1, np.int64)
            kernel.on("cpu")(x, y)
            assert (y == [5 * ((i % 32 + 23) % 32) for i in range(size)]).all()
