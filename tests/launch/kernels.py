"""Kernels that the launch tests call. They are small: what is tested is everything around them."""

from typing import Literal, TypeVar

import isogrid as ig
from isogrid import In, InOut, Out, f32, f64, i32, i64, u8, u32, w32
from isogrid.dims import H, N, R, W

T = TypeVar("T", f32, f64)
TILE = ig.tunable(4, 8, 16)


class D(ig.Dim, const=True):
    """A compile-time constant."""


class R1(ig.Dim, equals=R + 1):
    """One more than R."""


class Twice(ig.Dim, equals=2 * R1):
    """Derived from a derived dimension; kernels name it before that one."""


class Padded(ig.Dim, equals=Twice * TILE + D):
    """Derived from all kinds."""


@ig.kernel(grid=N, block=256)
def saxpy(a: f32, x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    y[i] = a * x[i] + y[i]


@ig.kernel(grid=N)
def scale(a: T, x: In[T, N], y: Out[T, N]) -> None:
    i = ig.gid()
    y[i] = a * x[i]


@ig.kernel(grid=N)
def fill(n: i32, flag: bool, big: u32, word: w32, out: Out[i64, N]) -> None:
    i = ig.gid()
    out[i] = i64(n) + i64(big) + i64(word) if flag else 0


@ig.kernel(grid=(H, W))
def transpose(x: In[f32, H, W], y: Out[f32, W, H]) -> None:
    i, j = ig.gids()
    y[j, i] = x[i, j]


@ig.kernel(grid=R)
def differences(ptr: In[i32, R1], out: Out[i32, R]) -> None:
    r = ig.gid()
    out[r] = ptr[r + 1] - ptr[r]


@ig.kernel(grid=Padded)
def chained(x: In[i32, R], step: In[i32, D], out: Out[i64, Padded]) -> None:
    out[ig.gid()] = int(Padded) * 10_000 + int(Twice) * 100 + int(R1) * 10 + len(x)


@ig.kernel(grid=N)
def add_bias(x: In[f32, N], y: Out[f32, N], bias: In[f32, N] | None = None, a: f32 = 1.0) -> None:
    i = ig.gid()
    if bias is not None:
        y[i] = a * x[i] + bias[i]
    else:
        y[i] = a * x[i]


@ig.kernel(grid=N)
def weigh(x: In[u8, N, Literal[3]], y: Out[i32, N]) -> None:
    i = ig.gid()
    y[i] = x[i, 0] + x[i, 1] + x[i, 2]


@ig.kernel(grid=N)
def row_sums(x: In[f32, N, D], y: Out[f32, N]) -> None:
    i = ig.gid()
    total = f32(0.0)
    for d in range(D):
        total += x[i, d]
    y[i] = total


@ig.kernel(groups=ig.cdiv(N, TILE), block=TILE)
def reverse_tiles(x: In[i32, N], y: Out[i32, N]) -> None:
    tile = ig.shared(i32, TILE)
    if ig.gid() < N:
        tile[ig.lid()] = x[ig.gid()]
    ig.barrier()
    if ig.gid() < N:
        y[ig.gid()] = tile[TILE - 1 - ig.lid()]


@ig.kernel()
def open_fill(value: i32, out: Out[i32, N]) -> None:
    if ig.gid() < N:
        out[ig.gid()] = value


@ig.kernel(grid=N)
def open_block(x: In[i32, N], out: Out[i32, N]) -> None:
    total = ig.group_sum(x[ig.gid()] if ig.gid() < N else 0)
    if ig.gid() < N:
        out[ig.gid()] = total


@ig.kernel(grid=lambda n, out: n - 2)
def by_scalar(n: i32, out: Out[i32, N]) -> None:
    out[ig.gid()] = n


@ig.kernel(grid=N)
def with_requirement(n: i32, out: Out[i32, N]) -> None:
    ig.require(n % 4 == 0 and n <= N)
    ig.require(N > 0)
    out[ig.gid()] = n
