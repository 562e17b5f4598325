"""The six programs of the offload benchmark: one plain loop each, for isogrid and for Numba's `prange`; and functions
of other shapes, of which only the cost of a call is measured.

The Numba forms have equal arithmetic in f32 and no checks of bounds; their histogram keeps a copy per thread.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, i64
from isogrid.dims import M, N

SIZE = 1 << 22
BINS = 256
SIDE = 2048


@ig.offload(parallel="require")
def mapped(x: In[f32, N], y: Out[f32, N]) -> None:
    for i in range(len(x)):
        y[i] = x[i] * x[i] * 2.0 + x[i] + 1.0


@ig.offload(parallel="require")
def stencil(x: In[f32, N], y: Out[f32, N]) -> None:
    for i in range(1, len(x) - 1):
        y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0


@ig.offload(parallel="require")
def reduction(x: In[f32, N]) -> f32:
    s = f32(0)
    for i in range(len(x)):
        s += x[i]
    return s


@ig.offload(parallel="require")
def conditional(x: In[f32, N]) -> f32:
    s = f32(0)
    for i in range(len(x)):
        if x[i] > 0.5:
            s += x[i] * x[i]
    return s


@ig.offload(parallel="require")
def tile(x: In[f32, N], y: Out[f32, M], h: i64, w: i64) -> None:
    for i in range(h):
        for j in range(w):
            y[i * w + j] = x[i] * f32(j)


@ig.offload(parallel="require")
def histogram(index: In[i32, N], bins: InOut[i32, M]) -> None:
    for i in range(len(index)):
        bins[index[i]] += 1


@ig.offload(parallel="require")
def two_maps(x: In[f32, N], y: InOut[f32, N], z: Out[f32, N]) -> None:
    for i in range(len(x)):
        y[i] = x[i] * 2.0
    for i in range(len(x)):
        z[i] = y[i] + 1.0


@ig.offload(parallel="require")
def sum_and_map(x: In[f32, N], y: Out[f32, N]) -> f32:
    s = f32(0)
    for i in range(len(x)):
        s += x[i] * x[i]
    for i in range(1, len(x)):
        y[i] = x[i] - x[i - 1]
    return s


@ig.offload(parallel="require")
def scalar_first(x: InOut[f32, N], a: f32) -> None:
    factor = 1.0 / (1.0 + a)
    for i in range(len(x)):
        x[i] = x[i] * factor


@ig.offload(parallel="require")
def sum_of_stored(x: In[i32, N], y: InOut[i32, N]) -> i32:
    s = i32(0)
    for i in range(len(x)):
        y[i] = x[i] & 255
        s += x[i]
    return s


#: Functions of which the call alone is measured: two loops, a scalar from an argument, a total that may fail late.
CALLS = ("two_maps", "sum_and_map", "scalar_first", "sum_of_stored")


def isogrid_forms() -> dict[str, Callable[..., Any]]:
    plain = (mapped, stencil, reduction, conditional, tile, histogram)
    return {f.__name__: f for f in (*plain, two_maps, sum_and_map, scalar_first, sum_of_stored)}


def numba_forms() -> dict[str, Callable[..., Any]]:
    """Compiled when they are first called."""
    import numba
    from numba import njit, prange

    @njit(parallel=True)
    def mapped(x, y):
        for i in prange(len(x)):
            y[i] = x[i] * x[i] * np.float32(2) + x[i] + np.float32(1)

    @njit(parallel=True)
    def stencil(x, y):
        for i in prange(1, len(x) - 1):
            y[i] = (x[i - 1] + x[i] + x[i + 1]) / np.float32(3)

    @njit(parallel=True)
    def reduction(x):
        s = np.float32(0)
        for i in prange(len(x)):
            s += x[i]
        return s

    @njit(parallel=True)
    def conditional(x):
        s = np.float32(0)
        for i in prange(len(x)):
            if x[i] > np.float32(0.5):
                s += x[i] * x[i]
        return s

    @njit(parallel=True)
    def tile(x, y, h, w):
        for i in prange(h):
            for j in range(w):
                y[i * w + j] = x[i] * np.float32(j)

    @njit(parallel=True)
    def histogram(index, bins):
        threads, n = numba.get_num_threads(), len(index)
        own = np.zeros((threads, len(bins)), np.int32)
        for t in prange(threads):
            for i in range(n * t // threads, n * (t + 1) // threads):
                own[t, index[i]] += 1
        for t in range(threads):
            for k in range(len(bins)):
                bins[k] += own[t, k]

    return {f.__name__: f for f in (mapped, stencil, reduction, conditional, tile, histogram)}


def arguments(size: int) -> dict[str, tuple[Any, ...]]:
    """Inputs of every program for arrays of this size."""
    random = np.random.default_rng(1)
    x, y = random.random(size, dtype=np.float32), np.zeros(size, np.float32)
    side = int(size**0.5)
    index, bins = random.integers(0, BINS, size).astype(np.int32), np.zeros(BINS, np.int32)
    return {
        "mapped": (x, y),
        "stencil": (x, y),
        "reduction": (x,),
        "conditional": (x,),
        "tile": (x[:side].copy(), y[: side * side], side, side),
        "histogram": (index, bins),
        "two_maps": (x, y, np.zeros_like(x)),
        "sum_and_map": (x, y),
        "scalar_first": (np.ones_like(x), 0.0),
        "sum_of_stored": (index, np.zeros_like(index)),
    }
