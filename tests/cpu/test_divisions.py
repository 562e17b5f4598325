"""Quotients and remainders of vectors by a divisor that all lanes share, next to whole multiples and at the ends."""

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, Out, i32, i64, u32
from isogrid.dims import N


@ig.kernel(grid=N)
def signed(a: In[i32, N], d: i32, q: Out[i32, N], r: Out[i32, N]) -> None:
    i = ig.gid()
    q[i] = a[i] // d
    r[i] = a[i] % d


@ig.kernel(grid=N)
def unsigned(a: In[u32, N], d: u32, q: Out[u32, N], r: Out[u32, N]) -> None:
    i = ig.gid()
    q[i] = a[i] // d
    r[i] = a[i] % d


@ig.kernel(grid=N)
def long(a: In[i64, N], d: i64, q: Out[i64, N], r: Out[i64, N]) -> None:
    i = ig.gid()
    q[i] = a[i] // d
    r[i] = a[i] % d


# In f64 49 * (1 / 49) is below 1.
SMALL = [1, 2, 3, 7, 10, 49, 103, 255, 641, 46341, 65535, 65537, 6700417, 2**30 - 1, 2**30 + 1, 2**31 - 1]
LARGE = [*SMALL, 2**32 + 1, 2**40 - 1, 2**47 + 3, 2**49 - 1, 2**49, 2**52 + 1, 2**62 + 1]


def dividends(divisor: int, low: int, high: int) -> list[int]:
    """Values one off whole multiples, of few and of many bits, and the ends."""
    draws = np.random.default_rng(abs(divisor))
    most = high // abs(divisor)
    factors = {0, 1, 2, most, most - 1, *(int(most * share) for share in draws.random(200) ** 3)}
    near = {factor * abs(divisor) + off for factor in factors for off in (-1, 0, 1)}
    both = near | {-value for value in near} | {low, low + 1, high - 1, high}
    return sorted(value for value in both if low <= value <= high)


@pytest.mark.parametrize("divisor", [*SMALL, *(-d for d in SMALL)])
def test_signed(divisor: int) -> None:
    _compare(signed, dividends(divisor, -(2**31) + 1, 2**31 - 1), divisor, np.int32)


@pytest.mark.parametrize("divisor", [*SMALL, 2**31, 2**32 - 1])
def test_unsigned(divisor: int) -> None:
    _compare(unsigned, dividends(divisor, 0, 2**32 - 1), divisor, np.uint32)


@pytest.mark.parametrize("divisor", [*LARGE, -1, -3, -(2**40)])
def test_long(divisor: int) -> None:
    _compare(long, dividends(divisor, -(2**63) + 1, 2**63 - 1), divisor, np.int64)
    _compare(long, dividends(divisor, 0, 2**49 - 1), divisor, np.int64)
    _compare(long, dividends(divisor, 0, 2**51), divisor, np.int64)


def _compare(kernel: ig.Kernel, values: list[int], divisor: int, dtype: type[np.generic]) -> None:
    values = values * (1 + 64 // len(values))
    a = np.array(values, dtype)
    q, r = np.empty_like(a), np.empty_like(a)
    kernel.on("cpu")(a, divisor, q, r)
    assert q.tolist() == [value // divisor for value in values]
    assert r.tolist() == [value % divisor for value in values]
