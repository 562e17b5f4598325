"""Index arithmetic and loops: strides, chunks, remainders, floats, triangles."""

# Written to mislead a proof, not to please.
# ruff: noqa: B007

import isogrid as ig
from isogrid import In, InOut, f32, i32, i64, w32
from isogrid.dims import H, M, N, W


@ig.kernel(groups=1, block=8)
def row_swap(y: InOut[i32, N], n: i32) -> None:  # safe
    # loop-carried swap of two buffers offsets
    s = ig.shared(i32, 16)
    i = ig.lid()
    a = 0
    b = 8
    for t in range(n):
        s[b + i] = s[a + (i + 1) % 8]
        a, b = b, a
        ig.barrier()


@ig.kernel(groups=1, block=8)
def row_swap_sometimes(y: InOut[i32, N], x: In[i32, M], n: i32) -> None:  # not proved
    s = ig.shared(i32, 16)
    i = ig.lid()
    a = 0
    b = 8
    for t in range(n):
        s[b + i] = s[a + (i + 1) % 8]
        if t < M and x[t] > 0:
            a, b = b, a
        ig.barrier()


@ig.kernel(groups=1, block=8)
def skip_barrier_parity(y: InOut[i32, N], n: i32) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for t in range(n):
        s[i] = s[(i + 1) % 8]
        if t % 2 == 0:
            ig.barrier()


@ig.kernel(groups=1, block=8)
def inner_zero_trip(y: InOut[i32, N], n: i32, m: i32) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for t in range(n):
        s[i] = i32(t)
        for u in range(m):
            ig.barrier()
        if i < N:
            y[i] = s[7 - i]
        ig.barrier()


@ig.kernel(groups=1, block=8)
def inner_zero_trip_data(y: InOut[i32, N], x: In[i32, M], n: i32) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for t in range(n):
        s[i] = i32(t)
        for u in range(x[0]):
            ig.barrier()
        if i < N:
            y[i] = s[7 - i]
        ig.barrier()


@ig.kernel(groups=1, block=8)
def continue_skips_barrier(y: InOut[i32, N], n: i32) -> None:  # safe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for t in range(n):
        s[i] = i32(t)
        if t % 3 == 1:
            continue
        ig.barrier()
        if i < N:
            y[i] = s[7 - i]
        ig.barrier()


@ig.kernel(groups=1, block=8)
def continue_skips_second_barrier(y: InOut[i32, N], n: i32) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for t in range(n):
        s[i] = i32(t)
        ig.barrier()
        if i < N:
            y[i] = s[7 - i]
        if t % 3 == 1:
            continue
        ig.barrier()


@ig.kernel(groups=1, block=8)
def induction_in_helper(y: InOut[i32, N], n: i32) -> None:  # not proved
    i = ig.lid()
    j = i
    for t in range(n):
        if j < N:
            y[j] = 1
        j += 8 if t < 3 else 7


@ig.kernel(groups=1, block=8)
def stride_own(y: InOut[i32, N], n: i32) -> None:  # unsafe
    i = ig.lid()
    j = i
    while j < N:
        y[j] = 1
        j += i + 1


@ig.kernel(groups=1, block=8)
def stride_by_start(y: InOut[i32, N], n: i32) -> None:  # unsafe
    i = ig.lid()
    for j in range(i, N, i + 1):
        y[j] = 1


@ig.kernel(groups=1, block=8)
def stride_neg(y: InOut[i32, N], n: i32) -> None:  # safe
    i = ig.lid()
    for j in range(i * n, (i + 1) * n):
        if j >= 0 and j < N:
            y[j] = 1


@ig.kernel(groups=1, block=8)
def chunk_le(y: InOut[i32, N], n: i32) -> None:  # unsafe
    i = ig.lid()
    for j in range(i * n, (i + 1) * n + 1):
        if j >= 0 and j < N:
            y[j] = 1


@ig.kernel(groups=1, block=8)
def chunk_neg_step(y: InOut[i32, N], n: i32) -> None:  # safe
    i = ig.lid()
    for j in range(i * n, (i - 1) * n, -1):
        if j >= 0 and j < N:
            y[j] = 1


@ig.kernel(grid=(H, W), block=4)
def flat_rows_by_other(y: InOut[i32, N], x: In[i32, H, W], w: i32) -> None:  # unsafe
    i, j = ig.gids()
    if i * w + j < N:
        y[i * w + j] = 1


@ig.kernel(grid=(H, W), block=4)
def flat_rows_guarded(y: InOut[i32, N], x: In[i32, H, W], w: i32) -> None:  # safe
    i, j = ig.gids()
    if j < w and i * w + j < N:
        y[i * w + j] = x[i, j]


@ig.kernel(grid=(H, W), block=4)
def flat_rows_reqd(y: InOut[i32, N], x: In[i32, H, W], w: i32) -> None:  # unsafe
    ig.require(w >= W - 1)
    i, j = ig.gids()
    if i * w + j < N:
        y[i * w + j] = x[i, j]


@ig.kernel(grid=N, block=4)
def modular_stride(y: InOut[i32, N]) -> None:  # unsafe
    i = ig.gid()
    y[i64((w32(i) * 3) % w32(N))] = 1


@ig.kernel(grid=N, block=4)
def unsigned_wrap(y: InOut[i32, N], c: w32) -> None:  # unsafe
    i = ig.gid()
    y[i64((w32(i) - c) & 7)] = 1


@ig.kernel(grid=N, block=4)
def floats(y: InOut[i32, N], x: In[f32, N]) -> None:  # unsafe
    i = ig.gid()
    y[i64(f32(i) * 0.5)] = 1


@ig.kernel(grid=N, block=4)
def float_id(y: InOut[i32, N], x: In[f32, N]) -> None:  # not proved
    i = ig.gid()
    y[i64(f32(i))] = 1  # f32 rounding merges above 2^24


@ig.kernel(grid=N, block=4)
def min_index(y: InOut[i32, N], c: i32) -> None:  # unsafe
    i = ig.gid()
    y[min(i, c)] = 1


@ig.kernel(grid=N, block=4)
def max_index(y: InOut[i32, N], c: i32) -> None:  # unsafe
    i = ig.gid()
    y[max(i, c) - c] = 1


@ig.kernel(grid=N, block=4)
def clamp_index(y: InOut[i32, N], x: In[i32, N]) -> None:  # unsafe
    i = ig.gid()
    y[ig.clamp(i, 0, 5)] = 1


@ig.kernel(grid=N, block=4)
def abs_index(y: InOut[i32, N], c: i32) -> None:  # unsafe
    i = ig.gid()
    y[abs(i - c)] = 1


@ig.kernel(grid=N, block=4)
def shift_r(y: InOut[i32, N], c: i32) -> None:  # unsafe
    i = ig.gid()
    y[i >> c] = 1


@ig.kernel(grid=N, block=4)
def pow_index(y: InOut[i32, N], c: i32) -> None:  # unsafe
    i = ig.gid()
    y[(i - c) ** 2] = 1


@ig.kernel(grid=N, block=4)
def square_sym(y: InOut[i32, N], c: i32) -> None:  # unsafe
    i = ig.gid()
    y[(i - c) * (i - c)] = 1


@ig.kernel(grid=N, block=4)
def triangular(y: InOut[i32, M], x: In[i32, N]) -> None:  # not proved
    i = ig.gid()
    for j in range(i + 1):
        k = i * (i + 1) // 2 + j
        if k < M:
            y[k] = 1  # safe


@ig.kernel(grid=N, block=4)
def triangular_bad(y: InOut[i32, M], x: In[i32, N]) -> None:  # unsafe
    i = ig.gid()
    for j in range(i + 2):
        k = i * (i + 1) // 2 + j
        if k < M:
            y[k] = 1
