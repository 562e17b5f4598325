"""One kernel for each construct that a text says in its own way; `test_snapshots.py` keeps what they become."""

import math

import numpy as np

import isogrid as ig
from isogrid import In, InOut, Out, bf16, f16, f32, f64, i8, i32, i64, u8, u16, u32, w32, w64
from isogrid.dims import D, H, M, N, W

WEIGHTS = np.array([0.0625, 0.25, 0.375, 0.25, 0.1, math.inf], np.float32)
WEIGHTS.flags.writeable = False


@ig.func
def first_above(x: In[f32, N], limit: f32) -> i64:
    for k in range(len(x)):
        if x[k] > limit:
            return k
    return -1


@ig.kernel(grid=N)
def checked_arithmetic(n: i32, x: In[i32, N], y: InOut[i32, N], z: Out[u8, N]) -> None:
    i = ig.gid()
    total = x[i] * n + y[i]
    assert total != 13, "thirteen"
    y[i] = total // x[i] - total % 7
    z[i] = abs(total) >> (x[i] & 3)


@ig.kernel(grid=N)
def modular_arithmetic(seed: w32, x: In[w64, N], y: Out[w64, N]) -> None:
    i = ig.gid()
    h = x[i] * 0x9E3779B97F4A7C15 + ig.w64(seed)
    h ^= h >> 31
    y[i] = ig.rotate(h, 7) + ig.mulhi(h, x[i]) - ig.w64(ig.popcount(h))


@ig.kernel(grid=N)
def loops(n: i64, x: In[i32, N], y: InOut[i64, N]) -> None:
    i = ig.gid()
    s = i64(0)
    for a in range(n):
        s = (s * 3 + a) % 1000003
    for b in range(10, x[i], -3):
        if b == 4:
            continue
        s = (s * 2 + b) % 1000003
    for c in range(x[i], x[i] + 100, x[i]):
        if s % 11 == 3:
            break
        s = (s + c) % 1000003
    while s > 100 and s % 2 == 0:
        s //= 2
    y[i] = s


@ig.kernel(grid=N)
def early_returns(x: In[f32, M], limits: In[f32, N], y: Out[i64, N]) -> None:
    i = ig.gid()
    if limits[i] < 0.0:
        return
    y[i] = first_above(x, limits[i])


@ig.kernel(grid=N)
def float_functions(x: In[f32, N], y: In[f64, N], z: Out[f32, N], w: Out[f64, N]) -> None:
    i = ig.gid()
    v = x[i]
    small = min(v, -v, WEIGHTS[i % 5])
    z[i] = math.sqrt(abs(v)) + small % 3.0 - math.floor(v) / 7.0 + math.copysign(1.0, v)
    w[i] = max(y[i], f64(v)) * 0.1 + y[i]


@ig.kernel(grid=(D, H, W), block=(2, 4, 8))
def three_axes(on: In[bool, D, H, W], x: In[i8, D, H, W], y: Out[u16, D, H, W], any_on: InOut[bool, D]) -> None:
    d, h, w = ig.gids()
    if on[d, h, w] or x[d, h, w] < 0:
        y[d, h, w] = u32(x[d, h, w] & 127) * 3


@ig.kernel(groups=ig.cdiv(N, 64), block=64)
def traps_between_barriers(p: In[i32, N], x: In[f32, N], y: Out[f32, N]) -> None:
    tile = ig.shared(f32, 64)
    t = ig.lid()
    i = ig.gid()
    tile[t] = x[p[i]] if i < len(x) else 0.0
    ig.barrier()
    s = 0.0
    for k in range(3):
        s += tile[p[t] + k]
        ig.barrier()
        tile[t] = s
        ig.barrier()
    if i < len(y):
        y[i] = s + tile[63 - t]


@ig.kernel(groups=ig.cdiv(N, 128), block=128)
def group_operations(x: In[i32, N], f: In[f32, N], s: Out[i32, N], big: Out[i64, N], m: Out[f32, N]) -> None:
    i = ig.gid()
    inside = i < len(x)
    v = x[i] if inside else 0
    before = ig.group_scan(v, exclusive=True)
    all_of_it = ig.group_sum(i64(v) * 1000)
    most = ig.group_max(f[i] if inside else -math.inf)
    odd = ig.group_any(v % 2 == 1)
    if inside:
        s[i] = before
        big[i] = all_of_it
        m[i] = most if odd else 0.0


@ig.kernel(groups=N // 64, block=64)
def warp_operations(x: In[f32, N], k: In[i32, N], y: Out[f32, N], bits: Out[w32, N], total: Out[i32, N]) -> None:
    i = ig.gid()
    y[i] = ig.shuffle_xor(x[i], 5) + ig.shuffle(x[i], k[i]) + ig.warp_max(x[i])
    bits[i] = ig.ballot(x[i] > 0.5)
    if ig.warp_id() == 0:
        total[i] = ig.warp_sum(k[i])
    else:
        total[i] = ig.warp_scan(k[i])


@ig.kernel(groups=ig.cdiv(N, 256), block=256)
def atomic_updates(x: In[i32, N], f: In[f32, N], bins: InOut[i32, 16], low: InOut[f32, 1], seen: InOut[u32, 1]) -> None:
    local_bins = ig.shared(i32, 16)
    i = ig.gid()
    if i < len(x):
        ig.atomic_add(local_bins, x[i] & 15, x[i])
        ig.atomic_min(low, 0, f[i])
        ig.atomic_or_(seen, 0, u32(1) << (x[i] & 31))
    ig.barrier()
    if ig.lid() < 16:
        ig.atomic_add(bins, ig.lid(), local_bins[ig.lid()])


@ig.kernel(grid=N)
def local_arrays(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    kept = ig.local(f32, 4)
    for k in range(4):
        kept[k] = x[(i + k) % len(x)]
    for k in range(3):
        for j in range(3 - k):
            if kept[j] > kept[j + 1]:
                kept[j], kept[j + 1] = kept[j + 1], kept[j]
    y[i] = kept[1]


@ig.kernel(grid=N)
def stored_floats(a: f32, x: In[f16, N], d: In[f32, N], y: Out[bf16, N], z: Out[f16, N]) -> None:
    i = ig.gid()
    y[i] = bf16(a * x[i])
    if d[i] > 0.0:
        z[i] = f16(d[i])
    else:
        z[i] = f16(0.333)
