"""Long chains of values that later regions read: kept or computed again, the choice takes time that grows with them."""

import math
import time

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, u32
from isogrid.dims import H, N, W


@ig.kernel(groups=(N, 1), block=(4, 16))
def function_of_coordinates(flags: InOut[ig.i32, N], y: Out[ig.f64, N]) -> None:
    j = ig.gid(1)
    value = math.exp(1e-3 * ig.f64(j))
    some = ig.group_any(flags[ig.group_id(0)] > 0)
    if ig.lid(0) == 3 and ig.lid(1) == 15:
        y[ig.group_id(0)] = value if some else -value


def test_a_value_with_countless_ways_to_it() -> None:
    flags = np.array([1, 0, 1], np.int32)
    want, found = np.zeros(3), np.zeros(3)
    function_of_coordinates.on("interp")(flags, want)
    started = time.process_time()
    function_of_coordinates.on("cpu")(flags, found)
    assert time.process_time() - started < 10
    np.testing.assert_array_equal(found, want)


@ig.kernel(grid=(H, W), block=(4, 16))
def behind_a_trap(x: In[u32, H, W], y: Out[u32, H, W]) -> None:
    i, j = ig.gids()
    v = x[-(x[ig.lid(0) + i, min(ig.i64(x[1, 0] >> 1), W - 1)] >> 7), x[min(1, H - 1), 0]]
    column = ig.group_max(ig.f32(v))
    if i < H and j < W:
        y[i, j] = u32(column)


def test_threads_in_front_of_one_that_trapped_find_what_they_computed() -> None:
    """Thread (1, 0) is the first to trap; (0, 0) goes on with what its row keeps, and traps later in the kernel."""
    x = np.array([[0], [19]], np.uint32)
    texts: list[str] = []
    for device in ("interp", "cpu"):
        y = np.zeros_like(x)
        with pytest.raises(ig.KernelIndexError) as caught:
            behind_a_trap.on(device).options(disable=("prove",))(x, y)
        texts.append(str(caught.value))
    assert "index 19 is out of range for axis 1" in texts[0] and "thread (0, 0)" in texts[0]
    assert texts[1] == texts[0]
