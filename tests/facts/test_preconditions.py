"""Preconditions on arrays: checked before any thread, exactly, with the clause and the first element named."""

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, i64, u64
from isogrid.analysis.bounds import analyse_bounds
from isogrid.analysis.facts import LaunchFacts
from isogrid.dims import H, M, N, W
from isogrid.frontend.build import build
from isogrid.frontend.definition import Specialisation
from isogrid.ir import kernel as k
from isogrid.ir.parse import parse_kernel
from isogrid.ir.text import print_kernel
from isogrid.ir.verify import verify
from isogrid.ir.walk import visit


@ig.kernel(grid=N)
def permuted(p: In[i64, N], x: In[f32, N], y: Out[f32, N], n: i64 = 0) -> None:
    ig.require(n >= 0)
    ig.require(ig.distinct(p))
    ig.require(ig.all_in_range(p, 0, N))
    i = ig.gid()
    y[p[i]] = x[i]


@ig.kernel(grid=M)
def flagged(p: In[i32, M], keep: In[bool, M], y: InOut[i32, N]) -> None:
    ig.require(ig.distinct(p, where=keep))
    ig.require(ig.all_in_range(p, 0, N, where=keep))
    i = ig.gid()
    if keep[i]:
        y[p[i]] += 1


@ig.kernel(grid=H)
def of_rows(start: In[i32, H], x: In[f32, H, W], y: InOut[f32, H]) -> None:
    ig.require(ig.is_sorted(start))
    ig.require(ig.all_finite(x))
    y[ig.gid()] = x[ig.gid(), 0]


DEVICES = ("interp", "cpu")


@pytest.mark.parametrize("device", DEVICES)
def test_facts_that_hold_let_the_launch_run(device: str) -> None:
    p = np.random.default_rng(2).permutation(40)
    x, y = np.arange(40, dtype=np.float32), np.zeros(40, np.float32)
    for _ in range(3):
        permuted.on(device)(p, x, y)
    assert (y[p] == x).all()


@pytest.mark.parametrize("device", DEVICES)
def test_each_launch_is_checked_anew_and_nothing_changes(device: str) -> None:
    kernel = permuted.on(device)
    p, x, y = np.arange(9), np.ones(9, np.float32), np.zeros(9, np.float32)
    kernel(p, x, y)
    p[7] = 2
    y[:] = 5
    with pytest.raises(ig.RequirementError) as caught:
        kernel(p, x, y)
    text = str(caught.value)
    assert text.startswith("permuted() requires `ig.distinct(p)`: p[7] is 2, and p[2] is 2\n")
    assert (y == 5).all()


def test_clauses_are_checked_in_source_order() -> None:
    p = np.array([3, 3, 77])
    z = np.zeros(3, np.float32)
    with pytest.raises(ig.RequirementError, match="`n >= 0`"):
        permuted(p, z, z.copy(), n=-1)
    with pytest.raises(ig.RequirementError, match=r"`ig.distinct\(p\)`: p\[1\] is 3, and p\[0\] is 3"):
        permuted(p, z, z.copy())
    with pytest.raises(ig.RequirementError, match=r"`ig.all_in_range\(p, 0, N\)`: p\[2\] is 77, with N = 3"):
        permuted(np.array([0, 1, 77]), z, z.copy())


def test_flags_choose_the_elements() -> None:
    p = np.array([1, 1, 9, 2], np.int32)
    keep = np.array([True, False, False, True])
    y = np.zeros(3, np.int32)
    flagged(p, keep, y)
    assert y.tolist() == [0, 1, 1]
    keep[2] = True
    with pytest.raises(ig.RequirementError, match=r"p\[2\] is 9"):
        flagged(p, keep, y)
    keep[:] = True
    with pytest.raises(ig.RequirementError, match=r"p\[1\] is 1, and p\[0\] is 1"):
        flagged(p, keep, y)


def test_sorted_and_finite() -> None:
    x, y = np.ones((4, 3), np.float32), np.zeros(4, np.float32)
    start = np.array([0, 2, 2, 5], np.int32)
    of_rows(start, x, y)
    with pytest.raises(ig.RequirementError, match=r"start\[2\] is 1, and start\[1\] is 2"):
        of_rows(np.array([0, 2, 1, 5], np.int32), x, y)
    x[2, 1] = np.nan
    with pytest.raises(ig.RequirementError, match=r"`ig.all_finite\(x\)`: x\[2, 1\] is nan"):
        of_rows(start, x, y)


@ig.kernel(grid=N)
def wide(p: In[u64, N], y: Out[i32, N], low: i64, high: i64) -> None:
    ig.require(ig.all_in_range(p, low, high))
    y[ig.gid()] = 1


def test_bounds_outside_the_element_type_are_exact() -> None:
    p, y = np.array([0, 2**63 + 5], np.uint64), np.zeros(2, np.int32)
    with pytest.raises(ig.RequirementError, match=rf"p\[1\] is {2**63 + 5}, with low = -5, high = {2**63 - 1}"):
        wide(p, y, -5, 2**63 - 1)
    with pytest.raises(ig.RequirementError, match=r"p\[0\] is 0"):
        wide(p, y, -9, -3)
    wide(p[:1].copy(), y[:1].copy(), -(2**63), 1)


def built(kernel: ig.Kernel) -> k.Kernel:
    return build(kernel.definition, Specialisation())


@pytest.mark.parametrize("kernel", [permuted, flagged, of_rows, wide])
def test_facts_are_kept_in_text(kernel: ig.Kernel) -> None:
    ir = built(kernel)
    verify(ir)
    assert ir.facts
    assert parse_kernel(print_kernel(ir)) == ir


def test_a_required_range_proves_the_subscript() -> None:
    ir = built(permuted)
    proofs = analyse_bounds(ir, LaunchFacts())
    (store,) = [node for node in visit(ir.body) if isinstance(node, k.Store)]
    assert proofs.checks(store) == (True,)


def test_an_empty_launch_still_checks() -> None:
    with pytest.raises(ig.RequirementError):
        permuted(np.array([1, 1]), np.zeros(2, np.float32), np.zeros(2, np.float32))
