"""Reductions, scans, sorts, atomics and linear algebra within a group."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, Out, i32, w32
from isogrid.dims import K, M, N


class G(ig.Dim):
    """Number of groups."""


class G8(ig.Dim, equals=G * 8):
    """Elements of G groups of 8."""


class Rows1(ig.Dim, equals=M + 1):
    """Row pointers of M rows."""


@ig.kernel(groups=G, block=8)
def tree(x: In[i32, G8], y: Out[i32, G]) -> None:
    s = ig.shared(i32, 8)
    lid = ig.lid()
    s[lid] = x[ig.gid()]
    ig.barrier()
    h = 4
    while h > 0:
        if lid < h:
            s[lid] += s[lid + h]
        ig.barrier()
        h //= 2
    if lid == 0:
        y[ig.group_id()] = s[0]


@ig.kernel(groups=G, block=8)
def tree_by_range(x: In[i32, G8], y: Out[i32, G]) -> None:
    s = ig.shared(i32, 8)
    lid = ig.lid()
    s[lid] = x[ig.gid()]
    ig.barrier()
    for k in range(3):
        h = 4 >> k
        if lid < h:
            s[lid] += s[lid + h]
        ig.barrier()
    if lid == 0:
        y[ig.group_id()] = s[0]


@ig.kernel(groups=G, block=8)
def interleaved_by_modulus(x: In[i32, G8], y: Out[i32, G]) -> None:
    s = ig.shared(i32, 8)
    lid = ig.lid()
    s[lid] = x[ig.gid()]
    ig.barrier()
    h = 1
    while h < 8:
        if lid % (2 * h) == 0:
            s[lid] += s[lid + h]
        ig.barrier()
        h *= 2
    if lid == 0:
        y[ig.group_id()] = s[0]


@ig.kernel(groups=G, block=8)
def interleaved_by_index(x: In[i32, G8], y: Out[i32, G]) -> None:
    s = ig.shared(i32, 8)
    lid = ig.lid()
    s[lid] = x[ig.gid()]
    ig.barrier()
    h = 1
    while h < 8:
        i = 2 * h * lid
        if i + h < 8:
            s[i] += s[i + h]
        ig.barrier()
        h *= 2
    if lid == 0:
        y[ig.group_id()] = s[0]


@ig.kernel(grid=K, block=8)
def stride_then_tree(k: In[i32, K], x: In[i32, N], y: InOut[i32, Literal[1]]) -> None:
    s = ig.shared(i32, 8)
    lid = ig.lid()
    total = i32(0)
    i = ig.gid()
    while i < N:
        total += x[i]
        i += ig.grid_size()
    s[lid] = total
    ig.barrier()
    h = 4
    while h > 0:
        if lid < h:
            s[lid] += s[lid + h]
        ig.barrier()
        h //= 2
    if lid == 0:
        ig.atomic_add(y, 0, s[0])


@ig.kernel(groups=1, block=8)
def arg_max(x: In[i32, Literal[8]], y: Out[i32, Literal[2]]) -> None:
    v = ig.shared(i32, 8)
    p = ig.shared(i32, 8)
    lid = ig.lid()
    v[lid] = x[lid]
    p[lid] = i32(lid)
    ig.barrier()
    h = 4
    while h > 0:
        if lid < h and v[lid + h] > v[lid]:
            v[lid] = v[lid + h]
            p[lid] = p[lid + h]
        ig.barrier()
        h //= 2
    if lid == 0:
        y[0] = v[0]
        y[1] = p[0]


@ig.kernel(groups=G, block=8)
def group_sum(x: In[i32, G8], y: Out[i32, G]) -> None:
    total = ig.group_sum(x[ig.gid()])
    if ig.lid() == 0:
        y[ig.group_id()] = total


@ig.kernel(groups=1, block=8)
def scan_two_barriers(x: InOut[i32, Literal[8]]) -> None:
    s = ig.shared(i32, 8)
    lid = ig.lid()
    s[lid] = x[lid]
    ig.barrier()
    d = 1
    while d < 8:
        v = s[lid - d] if lid >= d else 0
        ig.barrier()
        s[lid] += v
        ig.barrier()
        d *= 2
    x[lid] = s[lid]


@ig.kernel(groups=1, block=8)
def scan_ping_pong(x: InOut[i32, Literal[8]]) -> None:
    s = ig.shared(i32, (2, 8))
    lid = ig.lid()
    s[0, lid] = x[lid]
    ig.barrier()
    cur = 0
    d = 1
    while d < 8:
        s[1 - cur, lid] = s[cur, lid] + (s[cur, lid - d] if lid >= d else 0)
        ig.barrier()
        cur = 1 - cur
        d *= 2
    x[lid] = s[cur, lid]


@ig.kernel(groups=1, block=4)
def blelloch(x: InOut[i32, Literal[8]]) -> None:
    s = ig.shared(i32, 8)
    lid = ig.lid()
    s[2 * lid] = x[2 * lid]
    s[2 * lid + 1] = x[2 * lid + 1]
    d = 4
    offset = 1
    while d > 0:
        ig.barrier()
        if lid < d:
            a = offset * (2 * lid + 1) - 1
            b = offset * (2 * lid + 2) - 1
            s[b] += s[a]
        offset *= 2
        d //= 2
    if lid == 0:
        s[7] = 0
    d = 1
    while d < 8:
        offset //= 2
        ig.barrier()
        if lid < d:
            a = offset * (2 * lid + 1) - 1
            b = offset * (2 * lid + 2) - 1
            t = s[a]
            s[a] = s[b]
            s[b] += t
        d *= 2
    ig.barrier()
    x[2 * lid] = s[2 * lid]
    x[2 * lid + 1] = s[2 * lid + 1]


@ig.kernel(groups=1, block=8)
def segmented_scan(x: In[i32, Literal[8]], head: In[i32, Literal[8]], y: Out[i32, Literal[8]]) -> None:
    v = ig.shared(i32, 8)
    f = ig.shared(i32, 8)
    lid = ig.lid()
    v[lid] = x[lid]
    f[lid] = head[lid]
    ig.barrier()
    d = 1
    while d < 8:
        a = v[lid]
        g = f[lid]
        if lid >= d and g == 0:
            a += v[lid - d]
            g = f[lid - d]
        ig.barrier()
        v[lid] = a
        f[lid] = g
        ig.barrier()
        d *= 2
    y[lid] = v[lid]


@ig.kernel(groups=G, block=8)
def scan_phase_one(x: In[i32, G8], y: Out[i32, G8], totals: Out[i32, G]) -> None:
    v = ig.group_scan(x[ig.gid()])
    y[ig.gid()] = v
    if ig.lid() == 7:
        totals[ig.group_id()] = v


@ig.kernel(groups=1, block=8)
def bitonic(x: InOut[i32, Literal[8]]) -> None:
    s = ig.shared(i32, 8)
    lid = ig.lid()
    s[lid] = x[lid]
    ig.barrier()
    k = 2
    while k <= 8:
        j = k // 2
        while j > 0:
            other = lid ^ j
            if other > lid:
                a = s[lid]
                b = s[other]
                if (a > b) == (lid & k == 0):
                    s[lid] = b
                    s[other] = a
            ig.barrier()
            j //= 2
        k *= 2
    x[lid] = s[lid]


@ig.kernel(groups=1, block=4)
def bitonic_pairs(x: InOut[i32, Literal[8]]) -> None:
    lid = ig.lid()
    h = 4
    while h > 0:
        i = (lid // h) * 2 * h + lid % h
        if x[i] > x[i + h]:
            t = x[i]
            x[i] = x[i + h]
            x[i + h] = t
        ig.barrier()
        h //= 2


@ig.kernel(groups=1, block=4)
def odd_even(x: InOut[i32, N]) -> None:
    lid = ig.lid()
    for t in range(N):
        i = 2 * lid + t % 2
        if i + 1 < N and x[i] > x[i + 1]:
            u = x[i]
            x[i] = x[i + 1]
            x[i + 1] = u
        ig.barrier()


@ig.kernel(grid=N, block=4)
def histogram(x: In[i32, N], h: InOut[i32, M]) -> None:
    ig.atomic_add(h, x[ig.gid()] % M, 1)


@ig.kernel(grid=K, block=4)
def private_histogram(k: In[i32, K], x: In[i32, N], h: InOut[i32, Literal[4]]) -> None:
    bins = ig.shared(i32, 4)
    lid = ig.lid()
    bins[lid] = 0
    ig.barrier()
    i = ig.gid()
    while i < N:
        ig.atomic_add(bins, x[i] % 4, 1)
        i += ig.grid_size()
    ig.barrier()
    ig.atomic_add(h, lid, bins[lid])


@ig.kernel(grid=N, block=4)
def largest(x: In[i32, N], y: InOut[i32, Literal[1]]) -> None:
    ig.atomic_max(y, 0, x[ig.gid()])


@ig.kernel(grid=N, block=4)
def count_random(x: In[i32, N], y: InOut[i32, Literal[1]]) -> None:
    h = w32(ig.gid()) * 747796405 + 2891336453
    if (h >> 8) & 1 == 0:
        ig.atomic_add(y, 0, 1)


@ig.kernel(grid=M, block=4)
def spmv_row(ptr: In[i32, Rows1], col: In[i32, K], val: In[i32, K], x: In[i32, N], y: Out[i32, M]) -> None:
    row = ig.gid()
    total = i32(0)
    for j in range(ptr[row], ptr[row + 1]):
        total += val[j] * x[col[j]]
    y[row] = total


@ig.kernel(groups=M, block=4)
def matvec_row_a_group(a: In[i32, M, N], x: In[i32, N], y: Out[i32, M]) -> None:
    s = ig.shared(i32, 4)
    lid = ig.lid()
    total = i32(0)
    for j in range(lid, int(N), ig.group_size()):
        total += a[ig.group_id(), j] * x[j]
    s[lid] = total
    ig.barrier()
    if lid < 2:
        s[lid] += s[lid + 2]
    ig.barrier()
    if lid == 0:
        y[ig.group_id()] = s[0] + s[1]


@ig.kernel(groups=(1, 1), block=(4, 4))
def floyd_guarded(d: InOut[i32, Literal[4], Literal[4]]) -> None:
    r, c = ig.gids()
    for k in range(4):
        if r != k and c != k:
            d[r, c] = min(d[r, c], d[r, k] + d[k, c])
        ig.barrier()


@ig.kernel(groups=(1, 1), block=(4, 4))
def lu_tile(a: InOut[i32, Literal[4], Literal[4]]) -> None:
    r, c = ig.lids()
    for k in range(3):
        if r > k and c == k:
            a[r, k] = a[r, k] // max(a[k, k], 1)
        ig.barrier()
        if r > k and c > k:
            a[r, c] -= a[r, k] * a[k, c]
        ig.barrier()


@ig.kernel(groups=1, block=8)
def forward_substitution(a: In[i32, N, N], b: InOut[i32, N]) -> None:
    lid = ig.lid()
    for k in range(N):
        if lid > k and lid < N:
            b[lid] = b[lid] - a[lid, k] * b[k]
        ig.barrier()


@ig.kernel(groups=1, block=4)
def walsh_hadamard(x: InOut[i32, Literal[8]]) -> None:
    s = ig.shared(i32, 8)
    lid = ig.lid()
    s[lid] = x[lid]
    s[lid + 4] = x[lid + 4]
    ig.barrier()
    h = 1
    while h < 8:
        i = (lid // h) * 2 * h + lid % h
        u = s[i]
        v = s[i + h]
        s[i] = u + v
        s[i + h] = u - v
        ig.barrier()
        h *= 2
    x[lid] = s[lid]
    x[lid + 4] = s[lid + 4]


@ig.kernel(grid=N, block=4)
def nbody_tiles(x: In[i32, N], y: Out[i32, N]) -> None:
    s = ig.shared(i32, 4)
    lid = ig.lid()
    i = ig.gid()
    mine = x[i] if i < N else 0
    total = i32(0)
    for t in range(ig.num_groups()):
        j = t * 4 + lid
        s[lid] = x[j] if j < N else 0
        ig.barrier()
        for q in range(4):
            total += abs(s[q] - mine)
        ig.barrier()
    if i < N:
        y[i] = total
