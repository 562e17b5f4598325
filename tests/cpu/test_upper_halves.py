"""Upper halves of products whose operands LLVM knows to be narrow, in every shape of lane loop."""

from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out
from isogrid.dims import M, N


@ig.kernel(grid=N)
def of_streams(x: In[ig.i8, M], y: InOut[ig.i16, N], z: Out[ig.u32, N]) -> None:
    i = ig.gid()
    z[i] = ig.mulhi(ig.u32(x[0] & 127), ig.u32(y[i] & 255))
    y[i] = (ig.mulhi(x[0], y[i]) | abs(y[i])) & 32767


@ig.kernel(grid=N, block=32)
def of_groups(x: In[ig.i8, M], y: InOut[ig.i16, N], z: Out[ig.u32, N]) -> None:
    i = ig.gid()
    tile = ig.shared(ig.i16, 32)
    t = ig.lid()
    if i < N:
        tile[t] = y[i]
    ig.barrier()
    if i < N:
        for k in range(1, 1 + len(x) % 3):
            z[i] = ig.mulhi(ig.u32(tile[t] & 255), ig.u32(x[0] & 127)) + ig.u32(k)
        y[i] = (ig.mulhi(x[0], tile[t]) | abs(tile[t])) & 32767


@pytest.mark.parametrize("kernel", [of_streams, of_groups], ids=lambda kernel: kernel.definition.name)
@pytest.mark.parametrize("factor", [0, 1, -1, 127, -128])
def test_narrow_operands(kernel: Any, factor: int) -> None:
    y = np.array([-32768, -1, 0, 1, 5, 32767, -2, -5] * 9, np.int16)
    results: list[Any] = []
    for device in ("interp", "cpu"):
        given = y.copy()
        z = np.zeros(len(y), np.uint32)
        kernel.on(device)(np.full(4, factor, np.int8), given, z)
        results.append((given, z))
    assert (results[0][0] == results[1][0]).all()
    assert (results[0][1] == results[1][1]).all()
