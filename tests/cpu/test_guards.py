"""Guards whose condition is the same for all threads of a group, though each thread keeps its parts for itself."""

import itertools
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out
from isogrid.backends.cpu.emit_guards import resolved
from isogrid.dims import M, N, W
from isogrid.ir import device as d
from isogrid.ir.device import Machine


class W8(ig.Dim, equals=W * 8):
    """Threads of W groups of 8."""


@ig.func
def varied(p0, p1, p2):
    if ig.w32(p1) <= 31:
        return ~p0
    for _ in range(3):
        if ig.i64(p2) > 128:
            return p0
    return p0 ^ 7


@ig.kernel(groups=W, block=8)
def returns_early(x: In[ig.w64, M], y: Out[ig.u64, W8], s: In[ig.u32, W]) -> None:
    t = ig.lid()
    value = varied(ig.u64(t) & 100, x[0] * (x[0] ** 2), s[0] >> 16)
    whole = ig.group_sum(value & 3)
    y[ig.gid()] = whole + (value >> 1)


@ig.kernel(grid=M // 3, block=32)
def leaves_a_loop(x: In[ig.i32, N], m: In[ig.i16, M], y: Out[ig.w64, N], a: InOut[ig.w32, N]) -> None:
    i = ig.gid(0)
    tile = ig.shared(ig.i16, 32)
    t = ig.lid()
    tile[t] = m[0]
    v = ig.w64(ig.grid_size(0)) - 100
    for _ in range(3):
        if (ig.f32(ig.grid_size(0)) != ig.f32(x[0])) & (v <= v):
            break
        v += v * v
    ig.barrier()
    if i < N:
        y[i] = ig.w64(tile[31 - t]) + v


@pytest.mark.parametrize("size", [1, 7, 8, 33, 70])
def test_an_early_return_of_a_helper(size: int) -> None:
    for first in (0, 3, 1 << 33):
        x = np.full(5, first, np.uint64)
        s = np.full(size, 200 << 16, np.uint32)
        assert_agree(returns_early, (x, np.zeros(8 * size, np.uint64), s), 1)


@pytest.mark.parametrize("size", [1, 33, 70])
def test_a_break_on_a_group_value(size: int) -> None:
    for first in (0, 32, 64, 96):
        x = np.full(size, first, np.int32)
        m = np.ones(3 * size, np.int16)
        assert_agree(leaves_a_loop, (x, m, np.zeros(size, np.uint64), np.zeros(size, np.uint32)), 2)


def assert_agree(kernel: Any, arguments: tuple[Any, ...], written: int) -> None:
    results: list[Any] = []
    for device in ("interp", "cpu"):
        given = [a.copy() for a in arguments]
        kernel.on(device)(*given)
        results.append(given[written])
    assert (results[0] == results[1]).all()


def test_names_of_a_condition_are_replaced_only_while_it_stays_short() -> None:
    """Each name reads the one before it twice: written out, the last would be a tree of a million parts."""
    values = [d.Value(f"v{n}", Machine.F32) for n in range(21)]
    defined: dict[str, d.Expr] = {
        after.name: d.Op("fadd", (before, before), Machine.F32) for before, after in itertools.pairwise(values)
    }
    assert resolved(values[20], defined) == values[20]
    two = d.Op("fadd", (values[0], values[0]), Machine.F32)
    assert resolved(values[2], defined) == d.Op("fadd", (two, two), Machine.F32)
