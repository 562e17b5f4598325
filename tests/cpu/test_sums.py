"""Sums of small arrays gathered apart: the same totals, and the same traps, as additions made one by one."""

from typing import Any, Literal

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut
from isogrid.dims import N


@ig.kernel(grid=N, block=64)
def tally(kind: In[ig.u8, N], amount: In[ig.i32, N], bins: InOut[ig.i32, Literal[64]]) -> None:
    i = ig.gid()
    if i < len(kind):
        ig.atomic_add(bins, kind[i] % 64, amount[i])
    ig.atomic_add(bins, ig.lid(), ig.i32(ig.lid()) - 30)


@ig.kernel(grid=N, block=64)
def tally_unsigned(amount: In[ig.u32, N], bins: InOut[ig.u32, Literal[64]]) -> None:
    i = ig.gid()
    if i < len(amount):
        ig.atomic_add(bins, ig.lid(), amount[i])


def both(kernel: Any, *arrays: Any) -> None:
    found: list[tuple[list[int], str]] = []
    for device in ("interp", "cpu"):
        bins = arrays[-1].copy()
        words = ""
        try:
            kernel.on(device)(*arrays[:-1], bins)
        except ig.Trap as trap:
            words = str(trap)
        found.append((bins.tolist(), words))
    assert found[0] == found[1]


@pytest.mark.parametrize("size", [1, 63, 64, 65, 500])
@pytest.mark.parametrize("limit", [1000, 2**31 - 1])
def test_signed_totals_agree(size: int, limit: int) -> None:
    random = np.random.default_rng(size)
    kind = random.integers(0, 256, size, dtype=np.uint8)
    amount = random.integers(-limit, limit, size, dtype=np.int32)
    both(tally, kind, amount, random.integers(-limit, limit, 64, dtype=np.int32))


def test_totals_that_leave_the_type_and_come_back_do_not_trap() -> None:
    most = 2**31 - 1
    amount = np.array([most] * 64 + [most] * 64 + [-most] * 64, np.int32)
    bins = np.zeros(64, np.int32)
    both(tally, np.arange(192, dtype=np.uint8) % 64, amount, bins)


@pytest.mark.parametrize("last", [0, 1])
def test_unsigned_totals_agree(last: int) -> None:
    amount = np.full(128, 2**31, np.uint32)
    amount[64:] = 2**31 - 1
    both(tally_unsigned, amount, np.full(64, last, np.uint32))
    both(tally_unsigned, amount, np.full(64, last + 1, np.uint32))
