"""Guards whose condition is the same for all threads of a group, though each thread keeps its parts for itself."""

from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, Out
from isogrid.dims import N


@ig.func
def capped(value, limit):
    if ig.w32(value) <= limit:
        return value
    return value + limit


@ig.kernel(grid=N, block=32)
def leaves_a_loop(x: In[ig.i32, N], y: Out[ig.w64, N]) -> None:
    i = ig.gid()
    tile = ig.shared(ig.i32, 32)
    v = ig.w64(ig.grid_size(0)) - 100
    for _ in range(3):
        if (ig.f32(ig.grid_size(0)) != ig.f32(x[0])) & (v <= v):
            break
        v += v * v
    tile[ig.lid()] = 1
    ig.barrier()
    if i < N:
        y[i] = v + ig.w64(tile[31 - ig.lid()])


@ig.kernel(grid=(1, N), block=(1, 8))
def returns_early(x: In[ig.w32, N], y: Out[ig.w32, N]) -> None:
    row, column = ig.lids()
    tile = ig.shared(ig.w32, 8)
    value = capped(x[row] * (x[0] ** 2), ig.w32(31))
    tile[column] = value
    ig.barrier()
    i = ig.gid(1)
    if i < N:
        y[i] = tile[7 - column]


@pytest.mark.parametrize("size", [1, 7, 8, 33, 70])
@pytest.mark.parametrize("kernel", [leaves_a_loop, returns_early], ids=lambda kernel: kernel.definition.name)
def test_the_tiers_agree(kernel: Any, size: int) -> None:
    for first in (0, 3, size):
        element = np.int32 if kernel is leaves_a_loop else np.uint32
        x = (np.arange(size) + first).astype(element)
        results = []
        for device in ("interp", "cpu"):
            y = np.zeros(size, np.uint64 if kernel is leaves_a_loop else np.uint32)
            kernel.on(device)(x, y)
            results.append(y)
        assert (results[0] == results[1]).all()
