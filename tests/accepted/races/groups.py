"""Tiles, halos, transposes, group leaders, and control flow that a whole group shares."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, Out, i32
from isogrid.dims import H, K, M, N, W


class G(ig.Dim):
    """Number of groups."""


class G4(ig.Dim, equals=G * 4):
    """Elements of G groups of 4."""


@ig.kernel(grid=(H, W), block=(2, 2))
def matmul_naive(a: In[i32, H, K], b: In[i32, K, W], c: Out[i32, H, W]) -> None:
    r, q = ig.gids()
    s = i32(0)
    for j in range(K):
        s += a[r, j] * b[j, q]
    c[r, q] = s


@ig.kernel(grid=(H, W), block=(2, 2))
def matmul_tiled(a: In[i32, H, K], b: In[i32, K, W], c: Out[i32, H, W]) -> None:
    ta = ig.shared(i32, (2, 2))
    tb = ig.shared(i32, (2, 2))
    r, q = ig.gids()
    y, x = ig.lids()
    s = i32(0)
    for t in range(ig.cdiv(K, 2)):
        ta[y, x] = a[r, t * 2 + x] if r < H and t * 2 + x < K else 0
        tb[y, x] = b[t * 2 + y, q] if t * 2 + y < K and q < W else 0
        ig.barrier()
        for j in range(2):
            s += ta[y, j] * tb[j, x]
        ig.barrier()
    if r < H and q < W:
        c[r, q] = s


@ig.kernel(groups=(1, 1), block=(4, 4))
def matmul_exact(a: In[i32, Literal[4], N], b: In[i32, N, Literal[4]], c: Out[i32, Literal[4], Literal[4]]) -> None:
    ta = ig.shared(i32, (4, 4))
    tb = ig.shared(i32, (4, 4))
    y, x = ig.lids()
    s = i32(0)
    for t in range(N // 4):
        ta[y, x] = a[y, t * 4 + x]
        tb[y, x] = b[t * 4 + y, x]
        ig.barrier()
        for j in range(4):
            s += ta[y, j] * tb[j, x]
        ig.barrier()
    c[y, x] = s


@ig.kernel(grid=(H, W), block=(2, 2))
def transpose_naive(x: In[i32, H, W], y: Out[i32, W, H]) -> None:
    r, c = ig.gids()
    y[c, r] = x[r, c]


@ig.kernel(grid=(H, W), block=(4, 4))
def transpose_padded(x: In[i32, H, W], y: Out[i32, W, H]) -> None:
    tile = ig.shared(i32, (4, 5))
    r, c = ig.gids()
    j, i = ig.lids()
    if r < H and c < W:
        tile[j, i] = x[r, c]
    ig.barrier()
    row = ig.group_id(1) * 4 + j
    column = ig.group_id(0) * 4 + i
    if row < W and column < H:
        y[row, column] = tile[i, j]


@ig.kernel(groups=(1, 1), block=(4, 4))
def transpose_flat(x: In[i32, Literal[16]], y: Out[i32, Literal[16]]) -> None:
    tile = ig.shared(i32, 20)
    j, i = ig.lids()
    tile[j * 5 + i] = x[j * 4 + i]
    ig.barrier()
    y[j * 4 + i] = tile[i * 5 + j]


@ig.kernel(grid=(K, M), block=(2, 2))
def grid_stride_2d(k: In[i32, K, M], y: Out[i32, H, W]) -> None:
    for r in range(ig.gid(0), int(H), ig.grid_size(0)):
        for c in range(ig.gid(1), int(W), ig.grid_size(1)):
            y[r, c] = r


@ig.kernel(grid=(H, W), block=(2, 2))
def life(a: In[i32, H, W], b: Out[i32, H, W]) -> None:
    r, c = ig.gids()
    n = i32(0)
    for dy in range(3):
        for dx in range(3):
            if dx != 1 or dy != 1:
                n += a[(r + dy + H - 1) % H, (c + dx + W - 1) % W]
    b[r, c] = 1 if n == 3 or (a[r, c] == 1 and n == 2) else 0


@ig.kernel(grid=(H, W), block=(2, 2))
def stencil_2d(a: In[i32, H, W], b: Out[i32, H, W]) -> None:
    r, c = ig.gids()
    if r > 0 and r < H - 1 and c > 0 and c < W - 1:
        b[r, c] = a[r - 1, c] + a[r + 1, c] + a[r, c - 1] + a[r, c + 1]


@ig.kernel(grid=(H, W), block=(2, 2))
def stencil_2d_tile(a: In[i32, H, W], b: Out[i32, H, W]) -> None:
    t = ig.shared(i32, (4, 4))
    r, c = ig.gids()
    y, x = ig.lids()
    inside = r < H and c < W
    t[y + 1, x + 1] = a[r, c] if inside else 0
    if x == 0:
        t[y + 1, 0] = a[r, c - 1] if inside and c > 0 else 0
    if x == 1:
        t[y + 1, 3] = a[r, c + 1] if inside and c < W - 1 else 0
    if y == 0:
        t[0, x + 1] = a[r - 1, c] if inside and r > 0 else 0
    if y == 1:
        t[3, x + 1] = a[r + 1, c] if inside and r < H - 1 else 0
    ig.barrier()
    if inside:
        b[r, c] = t[y, x + 1] + t[y + 2, x + 1] + t[y + 1, x] + t[y + 1, x + 2]


@ig.kernel(grid=N, block=4)
def halo_1d(x: In[i32, N], y: Out[i32, N]) -> None:
    s = ig.shared(i32, 6)
    lid = ig.lid()
    i = ig.gid()
    s[lid + 1] = x[i] if i < N else 0
    if lid == 0:
        s[0] = x[i - 1] if i > 0 else 0
        s[5] = x[i + 4] if i + 4 < N else 0
    ig.barrier()
    if i < N:
        y[i] = s[lid] + s[lid + 1] + s[lid + 2]


@ig.kernel(grid=N, block=4)
def halo_of_two_by_strides(x: In[i32, N], y: Out[i32, N]) -> None:
    s = ig.shared(i32, 8)
    base = ig.group_id() * 4 - 2
    for j in range(ig.lid(), 8, 4):
        g = base + j
        s[j] = x[g] if g >= 0 and g < N else 0
    ig.barrier()
    i = ig.gid()
    if i < N:
        t = i32(0)
        for j in range(5):
            t += s[ig.lid() + j]
        y[i] = t


@ig.kernel(groups=1, block=8)
def jacobi_ping_pong(steps: i32, x: InOut[i32, Literal[8]]) -> None:
    s = ig.shared(i32, (2, 8))
    i = ig.lid()
    s[0, i] = x[i]
    ig.barrier()
    cur = 0
    for _ in range(steps):
        left = s[cur, i - 1] if i > 0 else 0
        right = s[cur, i + 1] if i < 7 else 0
        s[1 - cur, i] = left + right
        ig.barrier()
        cur = 1 - cur
    x[i] = s[cur, i]


@ig.kernel(groups=1, block=8)
def ping_pong_by_parity(steps: i32, x: InOut[i32, Literal[8]]) -> None:
    s = ig.shared(i32, (2, 8))
    i = ig.lid()
    s[0, i] = x[i]
    ig.barrier()
    for t in range(steps):
        s[(t + 1) % 2, i] = s[t % 2, (i + 1) % 8]
        ig.barrier()
    x[i] = s[0, i]


@ig.kernel(groups=1, block=4)
def red_black(steps: i32, x: InOut[i32, Literal[10]]) -> None:
    lid = ig.lid()
    for _ in range(steps):
        for colour in range(2):
            i = 2 * lid + 1 + colour
            x[i] = (x[i - 1] + x[i + 1]) // 2
            ig.barrier()


@ig.kernel(groups=G, block=4)
def broadcast(x: In[i32, G], y: Out[i32, G4]) -> None:
    s = ig.shared(i32, 1)
    if ig.lid() == 0:
        s[0] = x[ig.group_id()]
    ig.barrier()
    y[ig.gid()] = s[0]


@ig.kernel(grid=N, block=4)
def rotate(x: In[i32, N], y: Out[i32, N]) -> None:
    s = ig.shared(i32, 4)
    lid = ig.lid()
    i = ig.gid()
    s[(lid + 1) % 4] = x[i] if i < N else 0
    ig.barrier()
    if i < N:
        y[i] = s[lid]


@ig.kernel(grid=N, block=4)
def two_phases(x: In[i32, N], y: Out[i32, N], z: Out[i32, N]) -> None:
    s = ig.shared(i32, 4)
    lid = ig.lid()
    i = ig.gid()
    s[lid] = x[i] if i < N else 0
    ig.barrier()
    if i < N:
        y[i] = s[3 - lid]
    ig.barrier()
    s[lid] = i32(i)
    ig.barrier()
    if i < N:
        z[i] = s[(lid + 1) % 4]


@ig.kernel(groups=G, block=4)
def group_return(limit: i32, k: In[i32, G], x: In[i32, G4], y: InOut[i32, G4]) -> None:
    s = ig.shared(i32, 4)
    lid = ig.lid()
    if ig.group_id() >= limit:
        return
    s[lid] = x[ig.gid()]
    ig.barrier()
    y[ig.gid()] = s[3 - lid]


@ig.kernel(grid=N, block=4)
def under_scalar_condition(mode: i32, x: In[i32, N], y: Out[i32, N]) -> None:
    s = ig.shared(i32, 4)
    lid = ig.lid()
    i = ig.gid()
    if mode > 0:
        s[lid] = x[i] if i < N else 0
        ig.barrier()
        if i < N:
            y[i] = s[(lid + mode) % 4]
    elif i < N:
        y[i] = x[i]


@ig.kernel(groups=G, block=4)
def branch_on_group(k: In[i32, G], x: In[i32, G4], y: Out[i32, G4]) -> None:
    s = ig.shared(i32, 4)
    lid = ig.lid()
    if ig.group_id() % 2 == 0:
        s[lid] = x[ig.gid()]
        ig.barrier()
        y[ig.gid()] = s[3 - lid]
    else:
        s[3 - lid] = x[ig.gid()]
        ig.barrier()
        y[ig.gid()] = s[lid]


@ig.kernel(groups=1, block=4)
def nested_loops(n: i32, x: InOut[i32, Literal[4]]) -> None:
    s = ig.shared(i32, 4)
    lid = ig.lid()
    for i in range(n):
        for j in range(i + 1):
            s[lid] = x[lid] + j
            ig.barrier()
            x[lid] = s[(lid + 1) % 4]
            ig.barrier()


@ig.kernel(groups=1, block=4)
def group_vote(x: InOut[i32, Literal[4]]) -> None:
    s = ig.shared(i32, 4)
    lid = ig.lid()
    s[lid] = x[lid]
    ig.barrier()
    while ig.group_any(s[lid] > 0):
        v = s[(lid + 1) % 4]
        ig.barrier()
        s[lid] = v - 1
        ig.barrier()
    x[lid] = s[lid]


@ig.kernel(groups=1, block=4)
def break_together(n: i32, x: InOut[i32, Literal[4]]) -> None:
    s = ig.shared(i32, 4)
    lid = ig.lid()
    for _ in range(n):
        s[lid] = x[lid]
        ig.barrier()
        if s[0] > 3:
            break
        x[lid] = s[3 - lid] + 1
        ig.barrier()


@ig.kernel(grid=N, block=4)
def mandelbrot_like(x: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    v = x[i]
    n = i32(0)
    while v > 0 and n < 10:
        v -= 2
        n += 1
    y[i] = n


@ig.kernel(groups=G, block=4)
def leader(x: In[i32, G4], y: Out[i32, G]) -> None:
    lid = ig.lid()
    s = ig.shared(i32, 4)
    s[lid] = x[ig.gid()]
    ig.barrier()
    if lid == 0:
        total = i32(0)
        for j in range(4):
            total += s[j]
        y[ig.group_id()] = total


@ig.kernel(groups=G, block=4)
def leader_tracks_total(n: i32, k: In[i32, G], x: In[i32, G4], y: Out[i32, G4]) -> None:
    s = ig.shared(i32, 4)
    total = ig.shared(i32, 1)
    lid = ig.lid()
    for t in range(n):
        s[lid] = x[ig.gid()] + t
        ig.barrier()
        if lid == 0:
            for j in range(4):
                total[0] += s[j]
        ig.barrier()
    y[ig.gid()] = total[0]


@ig.kernel(groups=1, block=8)
def buffers(n: i32, x: In[i32, Literal[8]], y: Out[i32, Literal[8]]) -> None:
    a = ig.shared(i32, (3, 8))
    b = ig.shared(i32, (4, 8))
    c = ig.shared(i32, (2, 8))
    i = ig.lid()
    for t in range(n):
        a[t % 3, i] = x[i]
        b[t % 4, i] = a[(t + 2) % 3, i]
        c[t % 2, i] = b[(t + 3) % 4, 7 - i]
        ig.barrier()
    y[i] = c[0, i]
