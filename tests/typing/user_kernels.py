"""Kernels as a user writes them. pyright and mypy accept this file as it stands; `test_typing.py` runs them on it."""

import math
from typing import Literal, TypeVar

import numpy as np

import isogrid as ig
from isogrid import In, InOut, Out, bf16, f16, f32, f64, i32, i64, u8, w32
from isogrid.dims import C, H, K, M, N, R, W

T = TypeVar("T", f32, f64)
TILE = ig.tunable(16, 8, 32)
GREY = (0.299, 0.587, 0.114)


class Head(ig.Dim, const=True):
    """Size of one head, a compile-time constant."""


class R1(ig.Dim, equals=R + 1):
    """Row pointers of R rows."""


@ig.kernel(grid=N, block=256)
def axpy(a: T, x: In[T, N], y: InOut[T, N]) -> None:
    i = ig.gid()
    y[i] = a * x[i] + y[i]


@ig.kernel(grid=(H, W))
def grey(image: In[u8, H, W, Literal[3]], out: Out[u8, H, W]) -> None:
    i, j = ig.gids()
    total = 0.0
    for c in range(3):
        total += GREY[c] * f32(image[i, j, c])
    out[i, j] = ig.saturate(u8, round(total))


@ig.func
def inside(i: int, j: int, h: int, w: int) -> bool:
    return 0 <= i < h and 0 <= j < w


@ig.kernel(groups=(ig.cdiv(M, TILE), ig.cdiv(N, TILE)), block=(TILE, TILE))
def matmul(a: In[f32, M, K], b: In[f32, K, N], c: Out[f32, M, N]) -> None:
    left = ig.shared(f32, (TILE, TILE + 1))
    right = ig.shared(f32, (TILE, TILE + 1))
    row, col = ig.gids()
    y, x = ig.lids()
    total = 0.0
    for t in range(ig.cdiv(K, TILE)):
        left[y, x] = a[row, t * TILE + x] if row < M and t * TILE + x < K else 0.0
        right[y, x] = b[t * TILE + y, col] if t * TILE + y < K and col < N else 0.0
        ig.barrier()
        for k in ig.unroll(range(TILE), 4):
            total = ig.fma(left[y, k], right[k, x], total)
        ig.barrier()
    if inside(row, col, int(M), int(N)):
        c[row, col] = total


@ig.kernel(grid=R)
def spmv(ptr: In[i32, R1], col: In[i32, N], val: In[f32, N], x: In[f32, M], y: Out[f32, R], low: f32 = 1e-5) -> None:
    ig.require(R > 0)
    r = ig.gid()
    total = 0.0
    for k in range(ptr[r], ptr[r + 1]):
        total += val[k] * x[col[k]]
    y[r] = total if total > low else -math.inf


@ig.kernel(grid=lambda x: x.shape[0] // 2, block=64)
def add_bias(x: In[ig.Real, N, Head], bias: In[ig.Real, C] | None, y: Out[ig.Real, N, Head]) -> None:
    i = ig.gid()
    for d in range(Head):
        y[i, d] = x[i, d] + bias[d] if bias is not None else x[i, d]


@ig.kernel(groups=ig.cdiv(N, 256), block=256)
def histogram(x: In[u8, N], bins: InOut[i64, Literal[256]]) -> None:
    counts = ig.shared(i32, 256)
    if ig.gid() < N:
        ig.atomic_add(counts, x[ig.gid()], 1)
    ig.barrier()
    ig.atomic_add(bins, ig.lid(), i64(counts[ig.lid()]))


@ig.kernel(grid=N)
def hashes(seed: w32, out: Out[w32, N]) -> None:
    value = seed + w32(ig.gid())
    value ^= value >> 16
    out[ig.gid()] = value * w32(0x85EBCA6B)


@ig.kernel(groups=M, block=64)
def mixed_precision(scale: f32, x: In[bf16, M, Literal[64]], y: InOut[f16, M, Literal[64]]) -> None:
    tile = ig.shared(bf16, 64)
    i = ig.lid()
    tile[i] = bf16(scale * x[ig.group_id(), i])
    ig.barrier()
    y[ig.group_id(), i] = f16(tile[63 - i] + y[ig.group_id(), i])


def main() -> None:
    print(ig.zeros(3, bf16, device="cpu").dtype)
    x = np.ones(8, np.float32)
    axpy(2.0, x, np.ones(8, np.float32))
    axpy.options(fastmath=True, cpu={}).on("cpu").launch(2.0, x, y=x, device="cpu")
    with ig.use("interp") as device:
        print(device.name, axpy.option_values, axpy.check(), ig.devices())
    try:
        axpy()
    except ig.KernelRefused as refusal:
        print(refusal.reports)
    except (ig.LaunchError, ig.Trap):
        raise
