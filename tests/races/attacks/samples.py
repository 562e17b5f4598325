"""Kernels as textbooks and samples of CUDA have them, in this language: all are safe."""

import math
from typing import Literal

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, u8, u32, w32
from isogrid.dims import H, K, M, N, W

B = 8


class G(ig.Dim):
    """Number of groups."""


class G8(ig.Dim, equals=G * 8):
    """Elements of G groups of 8."""


class G16(ig.Dim, equals=G * 16):
    """Elements of G groups of 16."""


class N1(ig.Dim, equals=N + 1):
    """Ends of N rows."""


class N2(ig.Dim, equals=N * 2):
    """Twice N."""


class HW(ig.Dim, equals=H * W):
    """Cells of a grid."""


class NN(ig.Dim, equals=N * N):
    """Cells of a square."""


class MN(ig.Dim, equals=M + N):
    """Elements of two lists."""


@ig.kernel(groups=G, block=B)
def reduce3(x: In[f32, N], out: Out[f32, G]) -> None:  # safe
    s = ig.shared(f32, B)
    tid = ig.lid()
    i = ig.group_id() * (B * 2) + tid
    mine = x[i] if i < N else 0.0
    if i + B < N:
        mine += x[i + B]
    s[tid] = mine
    ig.barrier()
    d = B // 2
    while d > 0:
        if tid < d:
            mine = mine + s[tid + d]
            s[tid] = mine
        ig.barrier()
        d >>= 1
    if tid == 0:
        out[ig.group_id()] = mine


@ig.kernel(groups=G, block=16, warp=8)
def reduce4(x: In[f32, N], out: Out[f32, G]) -> None:  # safe
    s = ig.shared(f32, 16)
    tid = ig.lid()
    i = ig.group_id() * 32 + tid
    mine = x[i] if i < N else 0.0
    if i + 16 < N:
        mine += x[i + 16]
    s[tid] = mine
    ig.barrier()
    d = 8
    while d > 4:
        if tid < d:
            mine += s[tid + d]
            s[tid] = mine
        ig.barrier()
        d >>= 1
    v = mine
    v += ig.shuffle_down(v, 4)
    v += ig.shuffle_down(v, 2)
    v += ig.shuffle_down(v, 1)
    if tid == 0:
        out[ig.group_id()] = v


@ig.kernel(groups=G, block=16, warp=8)
def reduce5_unrolled_tail(x: In[f32, N], out: Out[f32, G]) -> None:  # safe
    s = ig.shared(f32, 16)
    tid = ig.lid()
    i = ig.group_id() * 32 + tid
    s[tid] = (x[i] if i < N else 0.0) + (x[i + 16] if i + 16 < N else 0.0)
    ig.barrier()
    if tid < 8:
        s[tid] += s[tid + 8]
        ig.warp_barrier()
        t = s[tid + 4] if tid < 4 else 0.0
        ig.warp_barrier()
        s[tid] += t
        ig.warp_barrier()
        t = s[tid + 2] if tid < 2 else 0.0
        ig.warp_barrier()
        s[tid] += t
        ig.warp_barrier()
        t = s[tid + 1] if tid < 1 else 0.0
        ig.warp_barrier()
        s[tid] += t
    if tid == 0:
        out[ig.group_id()] = s[0]


@ig.kernel(groups=G, block=B)
def reduce6(x: In[f32, N], out: Out[f32, G]) -> None:  # safe
    s = ig.shared(f32, B)
    tid = ig.lid()
    i = ig.group_id() * (B * 2) + tid
    stride = B * 2 * ig.num_groups()
    mine = f32(0.0)
    while i < N:
        mine += x[i]
        if i + B < N:
            mine += x[i + B]
        i += stride
    s[tid] = mine
    ig.barrier()
    for d in (4, 2, 1):
        if tid < d:
            mine += s[tid + d]
            s[tid] = mine
        ig.barrier()
    if tid == 0:
        out[ig.group_id()] = mine


@ig.kernel(groups=G, block=B)
def blelloch(x: In[f32, G16], y: Out[f32, G16], sums: Out[f32, G]) -> None:  # safe
    temp = ig.shared(f32, 16)
    tid = ig.lid()
    base = ig.group_id() * 16
    temp[2 * tid] = x[base + 2 * tid]
    temp[2 * tid + 1] = x[base + 2 * tid + 1]
    offset = 1
    d = 16 >> 1
    while d > 0:
        ig.barrier()
        if tid < d:
            ai = offset * (2 * tid + 1) - 1
            bi = offset * (2 * tid + 2) - 1
            temp[bi] += temp[ai]
        offset *= 2
        d >>= 1
    if tid == 0:
        sums[ig.group_id()] = temp[15]
        temp[15] = 0.0
    d = 1
    while d < 16:
        offset >>= 1
        ig.barrier()
        if tid < d:
            ai = offset * (2 * tid + 1) - 1
            bi = offset * (2 * tid + 2) - 1
            t = temp[ai]
            temp[ai] = temp[bi]
            temp[bi] += t
        d *= 2
    ig.barrier()
    y[base + 2 * tid] = temp[2 * tid]
    y[base + 2 * tid + 1] = temp[2 * tid + 1]


@ig.kernel(grid=N, block=8)
def bitonic_step(j: i32, k: i32, x: InOut[f32, N]) -> None:  # safe
    i = ig.gid()
    ixj = i ^ j
    if ixj > i and ixj < N:
        if i & k == 0:
            if x[i] > x[ixj]:
                t = x[i]
                x[i] = x[ixj]
                x[ixj] = t
        elif x[i] < x[ixj]:
            t = x[i]
            x[i] = x[ixj]
            x[ixj] = t


@ig.kernel(groups=G, block=8)
def bitonic_shared(x: InOut[f32, G16], g: In[i32, G]) -> None:  # safe
    s = ig.shared(f32, 16)
    tid = ig.lid()
    base = ig.group_id() * 16
    s[tid] = x[base + tid]
    s[tid + 8] = x[base + tid + 8]
    size = 2
    while size <= 16:
        stride = size // 2
        while stride > 0:
            ig.barrier()
            pos = 2 * tid - (tid & (stride - 1))
            a, b = s[pos], s[pos + stride]
            if (a > b) == ((tid & (size // 2)) == 0):
                s[pos], s[pos + stride] = b, a
            stride >>= 1
        size <<= 1
    ig.barrier()
    x[base + tid] = s[tid]
    x[base + tid + 8] = s[tid + 8]


@ig.kernel(groups=G, block=8)
def radix_histogram(bit: i32, x: In[i32, G8], counts: Out[i32, Literal[16], G]) -> None:  # safe
    ig.require(bit >= 0 and bit < 28)
    local = ig.shared(i32, 16)
    tid = ig.lid()
    ig.atomic_add(local, (x[ig.gid()] >> bit) & 15, 1)
    ig.barrier()
    for d in range(tid, 16, 8):
        counts[d, ig.group_id()] = local[d]


@ig.kernel(groups=G, block=8)
def histogram_private(x: In[u8, N], h: InOut[i32, Literal[256]], g: In[i32, G]) -> None:  # safe
    s = ig.shared(i32, 256)
    tid = ig.lid()
    for b in range(tid, 256, 8):
        s[b] = 0
    ig.barrier()
    for i in range(ig.gid(), int(N), ig.grid_size()):
        ig.atomic_add(s, x[i], 1)
    ig.barrier()
    for b in range(tid, 256, 8):
        ig.atomic_add(h, b, s[b])


@ig.kernel(grid=N)
def spmv_ell(per_row: i32, col: In[i32, K, N], val: In[f32, K, N], x: In[f32, M], y: Out[f32, N]) -> None:  # safe
    ig.require(ig.all_in_range(col, -1, M))
    row = ig.gid()
    total = f32(0.0)
    for k in range(K):
        c = col[k, row]
        if c >= 0:
            total += val[k, row] * x[c]
    y[row] = total


@ig.kernel(grid=(H, W), block=(4, 8))
def convolution_rows(weights: In[f32, Literal[5]], x: In[f32, H, W], y: Out[f32, H, W]) -> None:  # safe
    tile = ig.shared(f32, (4, 12))
    r, c = ig.gids()
    ly, lx = ig.lids()
    tile[ly, lx + 2] = x[r, c] if r < H and c < W else 0.0
    if lx < 2:
        tile[ly, lx] = x[r, c - 2] if r < H and c >= 2 and c - 2 < W else 0.0
    if lx >= 6:
        tile[ly, lx + 4] = x[r, c + 2] if r < H and c + 2 < W else 0.0
    ig.barrier()
    if r < H and c < W:
        total = f32(0.0)
        for k in range(-2, 3):
            total += weights[2 - k] * tile[ly, lx + 2 + k]
        y[r, c] = total


@ig.kernel(groups=(G, K), block=(2, 4))
def convolution_rows_sample(
    weights: In[f32, Literal[5]],
    src: In[f32, HW],
    pitch: i32,
    dst: InOut[f32, HW],
    down: In[f32, G],
    along: In[f32, K],
    h: In[i32, H],
    w: In[i32, W],
) -> None:  # safe
    """The sample's flat pointers: 4 results a thread, halo of one step left and right."""
    tile = ig.shared(f32, (2, 6 * 4))
    ty, tx = ig.lids()
    by, bx = ig.group_ids()
    base_x = bx * 16 + tx - 4
    base_y = by * 2 + ty
    at = base_y * pitch + base_x
    for i in range(1, 5):
        tile[ty, tx + i * 4] = src[at + i * 4]
    tile[ty, tx] = src[at] if base_x >= 0 else 0.0
    tile[ty, tx + 20] = src[at + 20] if pitch - base_x > 20 else 0.0
    ig.barrier()
    for i in range(1, 5):
        total = f32(0.0)
        for j in range(-2, 3):
            total += weights[2 - j] * tile[ty, tx + i * 4 + j]
        if base_x + i * 4 < pitch:
            dst[at + i * 4] = total


@ig.kernel(grid=(H, W), block=(4, 4))
def jacobi_tile(x: In[f32, H, W], y: Out[f32, H, W]) -> None:  # safe
    tile = ig.shared(f32, (6, 6))
    r, c = ig.gids()
    ly, lx = ig.lids()
    ly += 1
    lx += 1
    inside = r < H and c < W
    tile[ly, lx] = x[r, c] if inside else 0.0
    if ly == 1:
        tile[0, lx] = x[r - 1, c] if inside and r > 0 else 0.0
    if ly == 4:
        tile[5, lx] = x[r + 1, c] if r + 1 < H and c < W else 0.0
    if lx == 1:
        tile[ly, 0] = x[r, c - 1] if inside and c > 0 else 0.0
    if lx == 4:
        tile[ly, 5] = x[r, c + 1] if r < H and c + 1 < W else 0.0
    ig.barrier()
    if inside:
        y[r, c] = 0.25 * (tile[ly - 1, lx] + tile[ly + 1, lx] + tile[ly, lx - 1] + tile[ly, lx + 1])


@ig.kernel(groups=1, block=8)
def needleman_wunsch_tile(
    ref: In[i32, Literal[8], Literal[8]], penalty: i32, t: InOut[i32, Literal[9], Literal[9]]
) -> None:  # safe
    s = ig.shared(i32, (9, 9))
    tx = ig.lid()
    for r in range(9):
        s[r, tx + 1] = t[r, tx + 1]
    s[tx + 1, 0] = t[tx + 1, 0]
    if tx == 0:
        s[0, 0] = t[0, 0]
    ig.barrier()
    for m in range(8):
        if tx <= m:
            x = tx + 1
            y = m - tx + 1
            s[y, x] = max(s[y - 1, x - 1] + ref[y - 1, x - 1], s[y, x - 1] - penalty, s[y - 1, x] - penalty)
        ig.barrier()
    for m in range(6, -1, -1):
        if tx <= m:
            x = tx + 8 - m
            y = 8 - tx
            s[y, x] = max(s[y - 1, x - 1] + ref[y - 1, x - 1], s[y, x - 1] - penalty, s[y - 1, x] - penalty)
        ig.barrier()
    for r in range(8):
        t[r + 1, tx + 1] = s[r + 1, tx + 1]


@ig.kernel(grid=(N, N))
def lu_update_flat(k: i32, a: InOut[f32, NN], x: In[f32, N]) -> None:  # safe
    i, j = ig.gids()
    if k >= 0 and i > k and j > k:
        a[i * N + j] -= a[i * N + k] * a[k * N + j]


@ig.kernel(grid=NN)
def gaussian_fan2(t: i32, m: In[f32, NN], a: InOut[f32, NN], x: In[f32, N]) -> None:  # safe
    """Rodinia's Fan2: offsets from the pivot."""
    i = ig.gid() // N
    j = ig.gid() % N
    if t >= 0 and i < N - 1 - t and j < N - t:
        a[N * (i + 1 + t) + (j + t)] -= m[N * (i + 1 + t) + t] * a[N * t + (j + t)]


@ig.kernel(groups=1, block=8)
def cholesky_tile(a: InOut[f32, Literal[8], Literal[8]]) -> None:  # safe
    i = ig.lid()
    for k in range(8):
        if i == k:
            a[k, k] = math.sqrt(a[k, k])
        ig.barrier()
        if i > k:
            a[i, k] /= a[k, k]
        ig.barrier()
        if i > k:
            for j in range(k + 1, i + 1):
                a[i, j] -= a[i, k] * a[j, k]
        ig.barrier()


@ig.kernel(groups=(1, 1), block=(4, 4))
def cholesky_step_2d(n: i32, a: InOut[f32, Literal[4], Literal[4]]) -> None:  # safe
    ig.require(n >= 0 and n <= 4)
    i, j = ig.lids()
    for k in range(n):
        if i == k and j == k:
            a[k, k] = math.sqrt(a[k, k])
        ig.barrier()
        if j == k and i > k:
            a[i, k] /= a[k, k]
        ig.barrier()
        if i >= j and j > k:
            a[i, j] -= a[i, k] * a[j, k]
        ig.barrier()


@ig.kernel(grid=N)
def compact_by_differences(place: In[i32, N1], x: In[f32, N], y: InOut[f32, M]) -> None:  # safe
    """Inclusive sums with a zero in front: kept where the sum grows."""
    ig.require(ig.is_sorted(place))
    i = ig.gid()
    if place[i] < place[i + 1]:
        y[place[i]] = x[i]


@ig.kernel(groups=(H, W), block=(2, 8))
def transpose_sample(x: In[f32, N, M], y: Out[f32, M, N], h: In[f32, H], w: In[f32, W]) -> None:  # safe
    """TILE_DIM 8, BLOCK_ROWS 2, padded."""
    tile = ig.shared(f32, (8, 9))
    ty, tx = ig.lids()
    by, bx = ig.group_ids()
    c = bx * 8 + tx
    r = by * 8 + ty
    for j in range(0, 8, 2):
        if r + j < N and c < M:
            tile[ty + j, tx] = x[r + j, c]
    ig.barrier()
    c = by * 8 + tx
    r = bx * 8 + ty
    for j in range(0, 8, 2):
        if r + j < M and c < N:
            y[r + j, c] = tile[tx, ty + j]


@ig.kernel(groups=(H, W), block=(2, 8))
def transpose_sample_flat(width: i32, x: In[f32, N], y: Out[f32, N], h: In[f32, H], w: In[f32, W]) -> None:  # safe
    tile = ig.shared(f32, (8, 9))
    ty, tx = ig.lids()
    by, bx = ig.group_ids()
    wide = ig.num_groups(1) * 8
    c = bx * 8 + tx
    r = by * 8 + ty
    for j in range(0, 8, 2):
        tile[ty + j, tx] = x[(r + j) * wide + c]
    ig.barrier()
    high = ig.num_groups(0) * 8
    c = by * 8 + tx
    r = bx * 8 + ty
    for j in range(0, 8, 2):
        y[(r + j) * high + c] = tile[tx, ty + j]


@ig.kernel(groups=(H, W), block=(4, 4))
def matmul_register_tiled(
    a: In[f32, N, K], b: In[f32, K, M], c: Out[f32, N, M], h: In[f32, H], w: In[f32, W]
) -> None:  # safe
    """8 x 8 results a group, 2 x 2 a thread, tiles of depth 4."""
    sa = ig.shared(f32, (8, 4))
    sb = ig.shared(f32, (4, 8))
    acc = ig.local(f32, (2, 2))
    ty, tx = ig.lids()
    by, bx = ig.group_ids()
    tid = ig.lid()
    for k0 in range(0, K, 4):
        for e in range(tid, 32, 16):
            r, q = e // 4, e % 4
            sa[r, q] = a[by * 8 + r, k0 + q] if by * 8 + r < N and k0 + q < K else 0.0
            r, q = e // 8, e % 8
            sb[r, q] = b[k0 + r, bx * 8 + q] if k0 + r < K and bx * 8 + q < M else 0.0
        ig.barrier()
        for k in range(4):
            for i in range(2):
                for j in range(2):
                    acc[i, j] += sa[ty * 2 + i, k] * sb[k, tx * 2 + j]
        ig.barrier()
    for i in range(2):
        for j in range(2):
            r = by * 8 + ty * 2 + i
            q = bx * 8 + tx * 2 + j
            if r < N and q < M:
                c[r, q] = acc[i, j]


@ig.kernel(groups=(H, W), block=(4, 4))
def matmul_double_buffered(
    a: In[f32, N, K], b: In[f32, K, M], c: Out[f32, N, M], h: In[f32, H], w: In[f32, W]
) -> None:  # safe
    sa = ig.shared(f32, (2, 4, 4))
    sb = ig.shared(f32, (2, 4, 4))
    ty, tx = ig.lids()
    r, q = ig.gids()
    sa[0, ty, tx] = a[r, tx] if r < N and tx < K else 0.0
    sb[0, ty, tx] = b[ty, q] if ty < K and q < M else 0.0
    ig.barrier()
    acc = f32(0.0)
    now = 0
    for k0 in range(0, K, 4):
        if k0 + 4 < K:
            sa[1 - now, ty, tx] = a[r, k0 + 4 + tx] if r < N and k0 + 4 + tx < K else 0.0
            sb[1 - now, ty, tx] = b[k0 + 4 + ty, q] if k0 + 4 + ty < K and q < M else 0.0
        for k in range(4):
            acc += sa[now, ty, k] * sb[now, k, tx]
        ig.barrier()
        now = 1 - now
    if r < N and q < M:
        c[r, q] = acc


@ig.kernel(grid=(H, W))
def life_packed(x: In[u32, H, W], y: Out[u32, H, W]) -> None:  # safe
    r, c = ig.gids()
    up = r - 1 if r > 0 else H - 1
    down = r + 1 if r + 1 < H else 0
    left = (c + W - 1) % W
    right = (c + 1) % W
    out = w32(0)
    for bit in range(32):
        n = 0
        for row in (up, r, down):
            m = w32(x[row, c])
            n += int((m >> bit) & 1)
            n += int((m >> (bit - 1)) & 1) if bit > 0 else int(w32(x[row, left]) >> 31)
            n += int((m >> (bit + 1)) & 1) if bit < 31 else int(w32(x[row, right]) & 1)
        alive = (w32(x[r, c]) >> bit) & 1
        n -= int(alive)
        if n == 3 or (n == 2 and alive == 1):
            out |= w32(1) << bit
    y[r, c] = u32(out)


@ig.kernel(grid=N, block=8)
def nbody_tiles(x: In[f32, N, Literal[4]], a: Out[f32, N, Literal[4]]) -> None:  # safe
    s = ig.shared(f32, (8, 4))
    i, tid = ig.gid(), ig.lid()
    px = x[i, 0] if i < N else 0.0
    ax = f32(0.0)
    for t in range(0, N, 8):
        for k in range(4):
            s[tid, k] = x[t + tid, k] if t + tid < N else 0.0
        ig.barrier()
        for j in range(8):
            d = s[j, 0] - px
            ax += s[j, 3] * d * ig.rsqrt(d * d + 0.01)
        ig.barrier()
    if i < N:
        a[i, 0] = ax


@ig.kernel(grid=N)
def stockham_radix2(ns: i32, x: In[f32, N2, Literal[2]], y: Out[f32, N2, Literal[2]], t: In[f32, N]) -> None:  # safe
    ig.require(ns > 0)
    j = ig.gid()
    k = j % ns
    angle = f32(-2.0 * math.pi) * f32(k) / f32(ns * 2)
    wr, wi = math.cos(angle), math.sin(angle)
    ar, ai = x[j, 0], x[j, 1]
    br, bi = x[j + N, 0], x[j + N, 1]
    tr, ti = br * wr - bi * wi, br * wi + bi * wr
    d = j // ns * ns * 2 + k
    y[d, 0] = ar + tr
    y[d, 1] = ai + ti
    y[d + ns, 0] = ar - tr
    y[d + ns, 1] = ai - ti


@ig.kernel(groups=H, block=8)
def softmax_rows_inout(x: In[f32, H, W], y: InOut[f32, H, W]) -> None:  # safe
    row = ig.group_id()
    m = f32(-math.inf)
    c = ig.lid()
    while c < W:
        m = max(m, x[row, c])
        c += 8
    m = ig.group_max(m)
    s = f32(0.0)
    c = ig.lid()
    while c < W:
        e = math.exp(x[row, c] - m)
        y[row, c] = e
        s += e
        c += 8
    s = ig.group_sum(s)
    c = ig.lid()
    while c < W:
        y[row, c] /= s
        c += 8


@ig.kernel(groups=H, block=8)
def layer_norm(x: In[f32, H, W], gamma: In[f32, W], beta: In[f32, W], y: Out[f32, H, W]) -> None:  # safe
    row, tid = ig.group_id(), ig.lid()
    part = ig.shared(f32, 8)
    total = f32(0.0)
    for c in range(tid, int(W), 8):
        total += x[row, c]
    part[tid] = total
    ig.barrier()
    d = 4
    while d > 0:
        if tid < d:
            part[tid] += part[tid + d]
        ig.barrier()
        d //= 2
    mean = part[0] / f32(W)
    ig.barrier()
    total = f32(0.0)
    for c in range(tid, int(W), 8):
        e = x[row, c] - mean
        total += e * e
    part[tid] = total
    ig.barrier()
    d = 4
    while d > 0:
        if tid < d:
            part[tid] += part[tid + d]
        ig.barrier()
        d //= 2
    inv = ig.rsqrt(part[0] / f32(W) + 1e-5)
    for c in range(tid, int(W), 8):
        y[row, c] = (x[row, c] - mean) * inv * gamma[c] + beta[c]


@ig.kernel(groups=G, block=8)
def merge_path(a: In[i32, N], b: In[i32, M], out: Out[i32, MN], g: In[i32, G]) -> None:  # safe
    """Each thread writes outputs d .. d+3 of its diagonal."""
    d = 4 * ig.gid()
    lo = max(0, d - M)
    hi = min(d, N)
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] <= b[d - 1 - mid]:
            lo = mid + 1
        else:
            hi = mid
    i, j = lo, d - lo
    for k in range(4):
        if d + k < MN:
            if j >= M or (i < N and a[i] <= b[j]):
                out[d + k] = a[i]
                i += 1
            else:
                out[d + k] = b[j]
                j += 1


@ig.kernel(grid=HW)
def sobel_flat(x: In[i32, HW], y: Out[i32, HW], h: In[i32, H], w: In[i32, W]) -> None:  # safe
    t = ig.gid()
    r, c = t // W, t % W
    if 0 < r < H - 1 and 0 < c < W - 1:
        y[t] = x[t - W] + x[t + W] - x[t - 1] + x[t + 1] + x[t - W - 1] + x[t + W + 1]


@ig.kernel(grid=(H, W))
def bilateral(radius: i32, sigma: f32, x: In[f32, H, W], y: Out[f32, H, W]) -> None:  # safe
    r, c = ig.gids()
    total, weight = f32(0.0), f32(0.0)
    for dr in range(-radius, radius + 1):
        for dc in range(-radius, radius + 1):
            q = ig.clamp(r + dr, 0, H - 1)
            p = ig.clamp(c + dc, 0, W - 1)
            e = x[q, p] - x[r, c]
            k = math.exp(-e * e * sigma)
            total += k * x[q, p]
            weight += k
    y[r, c] = total / weight


@ig.kernel(groups=G, block=8)
def monte_carlo_pi(n: i32, seed: u32, hits: InOut[i32, Literal[1]], g: In[i32, G]) -> None:  # safe
    state = w32(seed) ^ (w32(ig.gid()) * w32(2654435761))
    count = 0
    for _ in range(n):
        state = state * w32(1664525) + w32(1013904223)
        x = f32(state >> 8) * f32(2.0**-24)
        state = state * w32(1664525) + w32(1013904223)
        y = f32(state >> 8) * f32(2.0**-24)
        if x * x + y * y < 1.0:
            count += 1
    total = ig.group_sum(i32(count))
    if ig.lid() == 0:
        ig.atomic_add(hits, 0, total)


@ig.kernel(groups=(1, 1), block=(4, 4))
def fw_phase1(b: i32, d: InOut[f32, N, N]) -> None:  # safe
    """The diagonal block."""
    s = ig.shared(f32, (4, 4))
    y, x = ig.lids()
    r, c = b * 4 + y, b * 4 + x
    inside = b >= 0 and r < N and c < N
    s[y, x] = d[r, c] if inside else math.inf
    ig.barrier()
    for k in range(4):
        v = min(s[y, x], s[y, k] + s[k, x])
        ig.barrier()
        s[y, x] = v
        ig.barrier()
    if inside:
        d[r, c] = s[y, x]


@ig.kernel(groups=(2, G), block=(4, 4))
def fw_phase2(b: i32, d: InOut[f32, N, N], g: In[f32, G]) -> None:  # safe
    """Row and column of the pivot block."""
    own = ig.shared(f32, (4, 4))
    piv = ig.shared(f32, (4, 4))
    which, at = ig.group_ids()
    if at == b or b < 0:
        return
    y, x = ig.lids()
    pr, pc = b * 4 + y, b * 4 + x
    r = pr if which == 0 else at * 4 + y
    c = at * 4 + x if which == 0 else pc
    piv[y, x] = d[pr, pc] if pr < N and pc < N else math.inf
    own[y, x] = d[r, c] if r < N and c < N else math.inf
    ig.barrier()
    for k in range(4):
        v = piv[y, k] + own[k, x] if which == 0 else own[y, k] + piv[k, x]
        v = min(v, own[y, x])
        ig.barrier()
        own[y, x] = v
        ig.barrier()
    if r < N and c < N:
        d[r, c] = own[y, x]


@ig.kernel(groups=(G, G), block=(4, 4))
def fw_phase3(b: i32, d: InOut[f32, N, N], g: In[f32, G]) -> None:  # safe
    row = ig.shared(f32, (4, 4))
    col = ig.shared(f32, (4, 4))
    gy, gx = ig.group_ids()
    if gy == b or gx == b or b < 0:
        return
    y, x = ig.lids()
    r, c = ig.gids()
    pr, pc = b * 4 + y, b * 4 + x
    row[y, x] = d[pr, c] if pr < N and c < N else math.inf
    col[y, x] = d[r, pc] if r < N and pc < N else math.inf
    ig.barrier()
    best = d[r, c] if r < N and c < N else math.inf
    for k in range(4):
        best = min(best, col[y, k] + row[k, x])
    if r < N and c < N:
        d[r, c] = best


@ig.kernel(grid=(K, H, W))
def gauss_seidel_3d(colour: i32, u: InOut[f32, K, H, W]) -> None:  # safe
    z, y, x = ig.gids()
    if (x + y + z) % 2 == colour and 0 < z < K - 1 and 0 < y < H - 1 and 0 < x < W - 1:
        u[z, y, x] = u[z - 1, y, x] + u[z + 1, y, x] + u[z, y - 1, x] + u[z, y + 1, x] + u[z, y, x - 1] + u[z, y, x + 1]


@ig.kernel(grid=(H, W))
def gauss_seidel_four_colours(a: i32, b: i32, u: InOut[f32, H, W]) -> None:  # safe
    """Nine-point stencil: four colours."""
    r, c = ig.gids()
    if r % 2 == a and c % 2 == b and 0 < r < H - 1 and 0 < c < W - 1:
        total = f32(0.0)
        for dr in range(-1, 2):
            for dc in range(-1, 2):
                if dr != 0 or dc != 0:
                    total += u[r + dr, c + dc]
        u[r, c] = total / 8.0


@ig.kernel(grid=N)
def gauss_seidel_three_colours(k: i32, u: InOut[f32, N]) -> None:  # safe
    i = ig.gid()
    if i % 3 == k and i > 0 and i + 1 < N:
        u[i] = 0.5 * (u[i - 1] + u[i + 1])


@ig.kernel(groups=1, block=8, warp=8)
def warp_scan_shared(x: InOut[i32, Literal[8]]) -> None:  # safe
    s = ig.shared(i32, 8)
    lane = ig.lane_id()
    s[lane] = x[lane]
    d = 1
    while d < 8:
        ig.warp_barrier()
        v = s[lane - d] if lane >= d else 0
        ig.warp_barrier()
        s[lane] += v
        d *= 2
    x[lane] = s[lane]
