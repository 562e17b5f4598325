"""Products of 64-bit lanes: upper halves and overflow checks, at every pair of edges, in explicit vectors."""

import itertools
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, Out
from isogrid.dims import N

_BITS = (0, 1, 2, 3, 31, 32, 33, 62, 63)
EDGES = sorted(
    {v & ((1 << 64) - 1) for bit in _BITS for d in (-1, 0, 1) for v in ((1 << bit) + d, -(1 << bit) + d)}
    | {3037000499, 3037000500, 4294967295, 6148914691236517205, 0xFEDCBA9876543210}
)
PAIRS = np.array(list(itertools.product(EDGES, EDGES)), np.uint64)


@ig.kernel(grid=N)
def upper_signed(a: In[ig.i64, N], b: In[ig.i64, N], y: Out[ig.i64, N]) -> None:
    i = ig.gid()
    for _ in range(1 + abs(a[i]) % 2):
        y[i] = ig.mulhi(a[i], b[i])


@ig.kernel(grid=N)
def upper_unsigned(a: In[ig.u64, N], b: In[ig.u64, N], y: Out[ig.u64, N]) -> None:
    i = ig.gid()
    for _ in range(1 + a[i] % 2):
        y[i] = ig.mulhi(a[i], b[i])


@ig.kernel(grid=N)
def product_signed(a: In[ig.i64, N], b: In[ig.i64, N], y: Out[ig.i64, N]) -> None:
    i = ig.gid()
    for _ in range(1 + (a[i] & 1)):
        y[i] = a[i] * b[i]


@ig.kernel(grid=N)
def product_unsigned(a: In[ig.u64, N], b: In[ig.u64, N], y: Out[ig.u64, N]) -> None:
    i = ig.gid()
    for _ in range(1 + (a[i] & 1)):
        y[i] = a[i] * b[i]


@pytest.mark.parametrize(("kernel", "dtype"), [(upper_signed, np.int64), (upper_unsigned, np.uint64)])
def test_upper_halves(kernel: Any, dtype: Any) -> None:
    pairs = PAIRS.view(dtype)
    if dtype is np.int64:
        pairs = pairs[pairs[:, 0] != np.iinfo(np.int64).min]
    a, b = pairs[:, 0].copy(), pairs[:, 1].copy()
    y = np.zeros_like(a)
    kernel.on("cpu")(a, b, y)
    want = [(int(p) * int(q)) >> 64 for p, q in pairs]
    assert y.tolist() == want


@pytest.mark.parametrize(("kernel", "dtype"), [(product_signed, np.int64), (product_unsigned, np.uint64)])
def test_overflow_is_found_in_the_one_lane_that_has_it(kernel: Any, dtype: Any) -> None:
    """All products that fit at once; then each that does not, among 33 that do."""
    info = np.iinfo(dtype)
    fits = np.array([info.min <= int(p) * int(q) <= info.max for p, q in PAIRS.view(dtype)])
    a, b = (np.ascontiguousarray(column) for column in PAIRS.view(dtype)[fits].T)
    y = np.zeros_like(a)
    kernel.on("cpu")(a, b, y)
    assert (y == a * b).all()
    plain = np.full(33, 3, dtype)
    for number, (p, q) in enumerate(PAIRS.view(dtype)[~fits]):
        a, b = plain.copy(), plain.copy()
        a[number % 33], b[number % 33] = p, q
        with pytest.raises(ig.KernelOverflowError, match=rf"{p} \* {q}"):
            kernel.on("cpu")(a, b, np.zeros_like(a))
