"""Kernels that are measured against libraries: a tree sum, a scan, a transpose, a histogram, a matrix product.

Each is what a user of the language would write for speed; nothing in the compiler knows them.
"""

from typing import Any, Literal

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32
from isogrid.dims import H, K, M, N, R, W

BLOCK = 256
#: Elements of one group of the scan: four of each thread.
CHUNK = 4 * BLOCK


@ig.kernel(grid=N, block=BLOCK)
def tree_sums(x: In[f32, N], sums: Out[f32, R]) -> None:
    """One sum of every 256 neighbours, in the fixed pairing of the language."""
    ig.require(ig.cdiv(N, BLOCK) <= R)
    i = ig.gid()
    total = ig.group_sum(x[i] if i < len(x) else -0.0)
    if ig.lid() == 0:
        sums[ig.group_id()] = total


@ig.kernel(groups=ig.cdiv(N, CHUNK), block=BLOCK)
def chunk_sums(x: In[f32, N], sums: Out[f32, R]) -> None:
    """The sum of every chunk, without the elements behind the end."""
    ig.require(ig.cdiv(N, CHUNK) <= R)
    first = (ig.group_id() * BLOCK + ig.lid()) * 4
    if first + 4 <= len(x):
        own = (x[first] + x[first + 1]) + (x[first + 2] + x[first + 3])
    else:
        a = x[first] if first < len(x) else 0.0
        b = a + x[first + 1] if first + 1 < len(x) else a
        own = b + x[first + 2] if first + 2 < len(x) else b
    total = ig.group_sum(own)
    if ig.lid() == 0:
        sums[ig.group_id()] = total


@ig.kernel(groups=ig.cdiv(N, CHUNK), block=BLOCK)
def chunk_scans(x: In[f32, N], before: In[f32, R], y: Out[f32, N]) -> None:
    """Prefixes in every chunk, behind the prefix of all chunks before it."""
    ig.require(ig.cdiv(N, CHUNK) <= R)
    group = ig.group_id()
    first = (group * BLOCK + ig.lid()) * 4
    v = ig.local(f32, 4)
    if first + 4 <= len(x):
        for c in range(4):
            v[c] = x[first + c]
    else:
        for c in range(4):
            v[c] = x[first + c] if first + c < len(x) else 0.0
    for c in range(1, 4):
        v[c] = v[c - 1] + v[c]
    offset = ig.group_scan(v[3], exclusive=True) + (before[group - 1] if group > 0 else 0.0)
    if first + 4 <= len(x):
        for c in range(4):
            y[first + c] = offset + v[c]
    else:
        for c in range(4):
            if first + c < len(x):
                y[first + c] = offset + v[c]


TILE = 64


@ig.kernel(groups=(H // TILE, W // TILE), block=(16, 16))
def transpose(x: In[f32, H, W], y: Out[f32, W, H]) -> None:
    """Four neighbours of a row in, four of a column out, through a padded tile."""
    ig.require(H % TILE == 0 and W % TILE == 0)
    tile = ig.shared(f32, (TILE, TILE + 1))
    gy, gx = ig.group_ids()
    ly, lx = ig.lids()
    for k in range(0, TILE, 16):
        for c in range(4):
            tile[ly + k, 4 * lx + c] = x[gy * TILE + ly + k, gx * TILE + 4 * lx + c]
    ig.barrier()
    for k in range(0, TILE, 16):
        for c in range(4):
            y[gx * TILE + ly + k, gy * TILE + 4 * lx + c] = tile[4 * lx + c, ly + k]


@ig.kernel(grid=256, block=256)
def clear(bins: Out[i32, Literal[256]]) -> None:
    bins[ig.gid()] = 0


@ig.kernel(groups=ig.cdiv(N, 16 * BLOCK), block=BLOCK)
def histogram(x: In[i32, N], bins: InOut[i32, Literal[256]]) -> None:
    """Four neighbours of each thread at a time, four times a group."""
    local = ig.shared(i32, 256)
    t = ig.lid()
    for row in range(4):
        for c in range(4):
            i = ((ig.group_id() * 4 + row) * BLOCK + t) * 4 + c
            if i < len(x):
                ig.atomic_add(local, x[i] & 255, 1)
    ig.barrier()
    ig.atomic_add(bins, t, local[t])


SIDE, DEPTH = 128, 8


@ig.func
def add_products(ta: Any, tb: Any, fa: Any, fb: Any, acc: Any, ty: Any, tx: Any) -> None:
    """Add what one pair of tiles gives to the 8 x 8 sums of a thread."""
    for k in ig.unroll(range(8), 8):
        for i in range(8):
            fa[i] = ta[k, 8 * ty + i]
        for j in range(4):
            fb[j] = tb[k, 4 * tx + j]
            fb[j + 4] = tb[k, 64 + 4 * tx + j]
        for i in range(8):
            for j in range(8):
                acc[i, j] = ig.fma(fa[i], fb[j], acc[i, j])


@ig.kernel(groups=(M // SIDE, N // SIDE), block=256)
def matmul(a: In[f32, M, K], b: In[f32, K, N], c: Out[f32, M, N]) -> None:
    """128 x 128 elements a group, 32 x 64 a warp and 8 x 8 a thread; the next tiles are on their way while this one is
    multiplied. Four more columns spread what is stored across over all banks. The last tiles are multiplied behind the
    loop, which so asks nothing but its own condition."""
    ig.require(M % SIDE == 0 and N % SIDE == 0 and K % DEPTH == 0 and K >= DEPTH)
    ta = ig.shared(f32, (DEPTH, SIDE + 4))
    tb = ig.shared(f32, (DEPTH, SIDE))
    acc = ig.local(f32, (8, 8))
    fa = ig.local(f32, 8)
    fb = ig.local(f32, 8)
    na = ig.local(f32, 4)
    nb = ig.local(f32, 4)
    t = ig.lid()
    gy, gx = ig.group_ids()
    warp, lane = t // 32, t % 32
    ty, tx = warp // 2 * 4 + lane // 8, warp % 2 * 8 + lane % 8
    ay, ax = t // 2, t % 2 * 4
    by, bx = t // 32, t % 32 * 4
    for i in range(4):
        ta[ax + i, ay] = a[gy * SIDE + ay, ax + i]
        tb[by, bx + i] = b[by, gx * SIDE + bx + i]
    ig.barrier()
    for step in range(1, a.shape[1] // DEPTH):
        for i in range(4):
            na[i] = a[gy * SIDE + ay, step * DEPTH + ax + i]
            nb[i] = b[step * DEPTH + by, gx * SIDE + bx + i]
        add_products(ta, tb, fa, fb, acc, ty, tx)
        ig.barrier()
        for i in range(4):
            ta[ax + i, ay] = na[i]
            tb[by, bx + i] = nb[i]
        ig.barrier()
    add_products(ta, tb, fa, fb, acc, ty, tx)
    for i in range(8):
        for j in range(4):
            c[gy * SIDE + 8 * ty + i, gx * SIDE + 4 * tx + j] = acc[i, j]
            c[gy * SIDE + 8 * ty + i, gx * SIDE + 64 + 4 * tx + j] = acc[i, j + 4]


#: Two groups on a processor need at most 128 registers a thread.
MATMUL: Any = matmul.options(cuda={"min_blocks_per_sm": 2})
