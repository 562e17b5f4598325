"""Quotients and roots of f32 in loops on a GPU: those that are hardest to round for every divisor, and every root.

    python -m tests.cuda_device.quotients

The code makes them from the approximations of the hardware (decision 0184), which no other machine has. NumPy's are
the processor's own, correctly rounded.
"""

import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import isogrid as ig
from isogrid import In, Out, f32
from isogrid.dims import M, N

Floats = Any
_TRIPS = 16
_ONE = 1 << 23


@ig.kernel(grid=N)
def quotients(a: In[f32, N, M], b: In[f32, N, M], q: Out[f32, N, M]) -> None:
    i = ig.gid()
    for j in range(a.shape[1]):
        q[i, j] = a[i, j] / b[i, j]


@ig.kernel(grid=N)
def roots(x: In[f32, N, M], r: Out[f32, N, M]) -> None:
    i = ig.gid()
    for j in range(x.shape[1]):
        r[i, j] = math.sqrt(x[i, j])


def floats(significands: Any, exponent: int = 0) -> Floats:
    """Numbers of 24 bits as floats from 2^exponent on."""
    return np.ldexp(significands.astype(np.float64), exponent - 23).astype(np.float32)


def next_to_midpoints(shift: int, above: int) -> tuple[Floats, Floats]:
    """For every odd divisor the dividend, if there is one, whose quotient in units of its last place lies as near to
    the middle between two floats as any can: 2^shift a = b k + (b + above) / 2."""
    b = np.arange(_ONE + 1, 2 * _ONE, 2, dtype=np.int64)
    a = (b + above) // 2
    for _ in range(shift):
        a = (a + (a & 1) * b) >> 1
    if shift == 23:  # quotients from 1 on have dividends from the divisor on
        a = np.where(a < b, a + b, a)
        kept = a < 2 * _ONE
    else:
        kept = (a >= _ONE) & (a < b)
    return floats(a[kept]), floats(b[kept])


def cases() -> Iterator[tuple[str, Floats, Floats]]:
    for shift in (23, 24):
        for above in (-1, 1):
            yield f"next to midpoints, 2^{shift}, {above:+d}", *next_to_midpoints(shift, above)
    a = np.arange(_ONE, 2 * _ONE, dtype=np.int64)
    yield "the largest significand", floats(a), np.full(_ONE, np.nextafter(np.float32(2), np.float32(1)))
    random = np.random.default_rng(1)
    for low, high in ((-3, 3), (-32, 0), (64, 96)):
        b = floats(random.integers(_ONE, 2 * _ONE, 1 << 24)) * np.exp2(random.integers(low, high, 1 << 24))
        a = b * floats(random.integers(-2 * _ONE, 2 * _ONE, 1 << 24)) * np.exp2(random.integers(-30, 30, 1 << 24))
        yield f"random, divisors from 2^{low}", a.astype(np.float32), b.astype(np.float32)
    yield "any bits", *random.integers(0, 1 << 32, (2, 1 << 24), dtype=np.uint32).view(np.float32)


def rows(x: Floats) -> Floats:
    return np.resize(x, (-(-len(x) // _TRIPS), _TRIPS))


def differing(found: Floats, expected: Floats) -> int:
    both = np.isnan(found) & np.isnan(expected)
    return int(np.count_nonzero((found.view(np.uint32) != expected.view(np.uint32)) & ~both))


def main() -> int:
    device = sys.argv[1] if len(sys.argv) > 1 else "cuda"
    wrong = 0
    for name, a, b in cases():
        a, b = rows(a), rows(b)
        found = ig.zeros(a.shape, f32, device=device)
        quotients.on(device)(ig.array(a, device=device), ig.array(b, device=device), found)
        with np.errstate(all="ignore"):
            off = differing(found.numpy(), a / b)
        print(f"{name:34} {a.size:9} quotients, {off} wrong", flush=True)
        wrong += off
    for exponent in (-96, -95, 0, 1, 126, 127):
        x = rows(floats(np.arange(_ONE, 2 * _ONE, dtype=np.int64), exponent))
        found = ig.zeros(x.shape, f32, device=device)
        roots.on(device)(ig.array(x, device=device), found)
        off = differing(found.numpy(), np.sqrt(x))
        print(f"roots from 2^{exponent:<4} {x.size:26} roots, {off} wrong", flush=True)
        wrong += off
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
