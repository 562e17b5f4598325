"""The handed kernels that are safe, as an author would write them. The name of each is its id in `kernels.jsonl`."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, Out, i32
from isogrid.dims import H, K, M, N, W


class G(ig.Dim):
    """Number of groups."""


class G16(ig.Dim, equals=G * 16):
    """Elements of G groups of 16."""


class G4(ig.Dim, equals=G * 4):
    """Elements of G groups of 4."""


class Rows(ig.Dim):
    """Rows of a matrix."""


class Rows1(ig.Dim, equals=Rows + 1):
    """Row pointers."""


class GN(ig.Dim, equals=G * N):
    """Elements of G rows of N."""


@ig.kernel(grid=N, block=8)
def S01_saxpy_guard(a: ig.f32, x: In[ig.f32, N], y: InOut[ig.f32, N]) -> None:
    gid = ig.gid()
    if gid < N:
        y[gid] = a * x[gid] + y[gid]


@ig.kernel(block=8)
def S04_grid_stride_for(x: In[i32, N], y: Out[i32, N]) -> None:
    for i in range(ig.gid(), int(N), ig.grid_size()):
        y[i] = x[i] * x[i]


@ig.kernel(grid=N, block=8)
def S05_reverse_copy(x: In[i32, N], y: Out[i32, N]) -> None:
    gid = ig.gid()
    if gid < N:
        y[N - 1 - gid] = x[gid]


@ig.kernel(grid=N, block=8)
def S06_inplace_scale(x: InOut[i32, N], k: i32) -> None:
    gid = ig.gid()
    x[gid] = x[gid] * k


@ig.kernel(block=4)
def S14_reduce_gridstride_then_tree(x: In[i32, N], out: InOut[i32, Literal[1]]) -> None:
    sh = ig.shared(i32, 4)
    lid = ig.lid()
    acc = i32(0)
    i = ig.gid()
    while i < N:
        acc += x[i]
        i += ig.grid_size()
    sh[lid] = acc
    ig.barrier()
    s = 2
    while s > 0:
        if lid < s:
            sh[lid] += sh[lid + s]
        ig.barrier()
        s //= 2
    if lid == 0:
        ig.atomic_add(out, 0, sh[0])


@ig.kernel(groups=G, block=16, warp=8)
def S17_warp_sync_tail(x: In[i32, G16], out: Out[i32, G]) -> None:
    sh = ig.shared(i32, 16)
    lid = ig.lid()
    lane = ig.lane_id()
    sh[lid] = x[ig.gid()]
    ig.barrier()
    if lid < 8:
        sh[lid] += sh[lid + 8]
    ig.barrier()
    if ig.warp_id() == 0:
        if lane < 4:
            sh[lane] += sh[lane + 4]
        ig.warp_barrier()
        if lane < 2:
            sh[lane] += sh[lane + 2]
        ig.warp_barrier()
        if lane < 1:
            sh[0] += sh[1]
            out[ig.group_id()] = sh[0]


@ig.kernel(groups=1, block=16, warp=4)
def S22_block_scan_of_warps(x: In[i32, Literal[16]], y: Out[i32, Literal[16]]) -> None:
    tot = ig.shared(i32, 4)
    gid = ig.gid()
    lane = ig.lane_id()
    v = x[gid]
    d = 1
    while d < 4:
        u = ig.shuffle_up(v, d)
        if lane >= d:
            v += u
        d *= 2
    if lane == 3:
        tot[ig.warp_id()] = v
    ig.barrier()
    base = i32(0)
    for w in range(ig.warp_id()):
        base += tot[w]
    y[gid] = v + base


@ig.kernel(groups=1, block=8)
def S23_segmented_scan(x: In[i32, Literal[8]], head: In[i32, Literal[8]], y: Out[i32, Literal[8]]) -> None:
    v = ig.shared(i32, 8)
    f = ig.shared(i32, 8)
    lid = ig.lid()
    gid = ig.gid()
    v[lid] = x[gid]
    f[lid] = head[gid]
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
    y[gid] = v[lid]


@ig.kernel(grid=(N, N), block=(4, 4))
def S28_stencil_2d_tile(a: In[i32, N, N], b: Out[i32, N, N]) -> None:
    t = ig.shared(i32, 36)
    gy, gx = ig.gids()
    ly, lx = ig.lids()
    c = (ly + 1) * 6 + lx + 1
    inside = gy < N and gx < N
    t[c] = a[gy, gx] if inside else 0
    if lx == 0:
        t[c - 1] = a[gy, gx - 1] if inside and gx > 0 else 0
    if lx == 3:
        t[c + 1] = a[gy, gx + 1] if inside and gx < N - 1 else 0
    if ly == 0:
        t[c - 6] = a[gy - 1, gx] if inside and gy > 0 else 0
    if ly == 3:
        t[c + 6] = a[gy + 1, gx] if inside and gy < N - 1 else 0
    ig.barrier()
    if inside:
        b[gy, gx] = t[c - 1] + t[c + 1] + t[c - 6] + t[c + 6]


@ig.kernel(grid=N, block=8)
def S30_hist_global_atomic(x: In[i32, N], h: InOut[i32, M]) -> None:
    gid = ig.gid()
    if gid < N:
        ig.atomic_add(h, x[gid], 1)


@ig.kernel(block=8)
def S31_hist_privatised(x: In[i32, N], h: InOut[i32, Literal[4]]) -> None:
    bins = ig.shared(i32, 4)
    lid = ig.lid()
    if lid < 4:
        bins[lid] = 0
    ig.barrier()
    i = ig.gid()
    while i < N:
        ig.atomic_add(bins, x[i], 1)
        i += ig.grid_size()
    ig.barrier()
    if lid < 4:
        ig.atomic_add(h, lid, bins[lid])


@ig.kernel(groups=1, block=8)
def S35_odd_even_sort(x: InOut[i32, N]) -> None:
    lid = ig.lid()
    for t in range(N):
        i = 2 * lid + t % 2
        if i + 1 < N:
            if x[i] > x[i + 1]:
                u = x[i]
                x[i] = x[i + 1]
                x[i + 1] = u
        ig.barrier()


@ig.kernel(groups=1, block=8, races="check")
def S36_radix_pass(x: InOut[i32, Literal[8]], bits: i32) -> None:
    sc = ig.shared(i32, 8)
    lid = ig.lid()
    for b in range(bits):
        v = x[lid]
        f = 1 - ((v >> b) & 1)
        sc[lid] = f
        ig.barrier()
        d = 1
        while d < 8:
            t = sc[lid - d] if lid >= d else 0
            ig.barrier()
            sc[lid] += t
            ig.barrier()
            d *= 2
        zeros = sc[7]
        if f == 1:
            dst = int(sc[lid] - 1)
        else:
            dst = zeros + lid - sc[lid]
        ig.barrier()
        x[dst] = v
        ig.barrier()


@ig.kernel(block=8, warp=4)
def S41_spmv_row_warp(ptr: In[i32, Rows1], col: In[i32, K], val: In[i32, K], x: In[i32, N], y: Out[i32, Rows]) -> None:
    lane = ig.lane_id()
    row = ig.gid() // ig.warp_size()
    acc = i32(0)
    if row < Rows:
        k = ptr[row] + lane
        while k < ptr[row + 1]:
            acc += val[k] * x[col[k]]
            k += ig.warp_size()
    m = ig.warp_size() // 2
    while m > 0:
        acc += ig.shuffle_xor(acc, m)
        m //= 2
    if lane == 0 and row < Rows:
        y[row] = acc


@ig.kernel(groups=G, block=4)
def S42_matvec_group_row(a: In[i32, GN], x: In[i32, N], y: Out[i32, G]) -> None:
    sh = ig.shared(i32, 4)
    lid = ig.lid()
    acc = i32(0)
    for j in range(lid, int(N), ig.group_size()):
        acc += a[ig.group_id() * N + j] * x[j]
    sh[lid] = acc
    ig.barrier()
    if lid < 2:
        sh[lid] += sh[lid + 2]
    ig.barrier()
    if lid == 0:
        y[ig.group_id()] = sh[0] + sh[1]


@ig.kernel(groups=(1, 1), block=(4, 4))
def S43_floyd_phase_guarded(d: InOut[i32, Literal[4], Literal[4]]) -> None:
    gy, gx = ig.gids()
    for k in range(4):
        if gy != k and gx != k:
            t = d[gy, k] + d[k, gx]
            if t < d[gy, gx]:
                d[gy, gx] = t
        ig.barrier()


@ig.kernel(groups=1, block=8)
def S45_trisolve(l: In[i32, N, N], b: InOut[i32, N]) -> None:  # noqa: E741
    lid = ig.lid()
    for k in range(N):
        if lid > k and lid < N:
            b[lid] = b[lid] - l[lid, k] * b[k]
        ig.barrier()


@ig.kernel(groups=1, block=8)
def S46_walsh_hadamard(x: InOut[i32, Literal[16]]) -> None:
    sh = ig.shared(i32, 16)
    lid = ig.lid()
    sh[lid] = x[lid]
    sh[lid + 8] = x[lid + 8]
    ig.barrier()
    h = 1
    while h < 16:
        i = (lid // h) * 2 * h + lid % h
        u = sh[i]
        v = sh[i + h]
        sh[i] = u + v
        sh[i + h] = u - v
        ig.barrier()
        h *= 2
    x[lid] = sh[lid]
    x[lid + 8] = sh[lid + 8]


@ig.kernel(grid=(H, W), block=(4, 4))
def S49_life(a: In[i32, H, W], b: Out[i32, H, W]) -> None:
    gy, gx = ig.gids()
    n = i32(0)
    for dy in range(3):
        for dx in range(3):
            if dx != 1 or dy != 1:
                n += a[(gy + dy + H - 1) % H, (gx + dx + W - 1) % W]
    me = a[gy, gx]
    b[gy, gx] = 1 if n == 3 or (me == 1 and n == 2) else 0


@ig.kernel(groups=G, block=4, deterministic=False)
def S50_lookback_scan(x: In[i32, G4], y: Out[i32, G4], state: InOut[i32, G]) -> None:
    sh = ig.shared(i32, 4)
    base = ig.shared(i32, 1)
    lid = ig.lid()
    group = ig.group_id()
    sh[lid] = x[ig.gid()]
    ig.barrier()
    d = 1
    while d < 4:
        t = sh[lid - d] if lid >= d else 0
        ig.barrier()
        sh[lid] += t
        ig.barrier()
        d *= 2
    if lid == 0:
        agg = sh[3]
        if group == 0:
            base[0] = 0
            ig.atomic_store(state, 0, 2 + 4 * agg)
        else:
            ig.atomic_store(state, group, 1 + 4 * agg)
            pre = i32(0)
            p = group - 1
            while p >= 0:
                s = ig.atomic_load(state, p)
                if s % 4 != 0:
                    pre += s // 4
                    if s % 4 == 2:
                        p = -1
                    else:
                        p -= 1
            base[0] = pre
            ig.atomic_store(state, group, 2 + 4 * (pre + agg))
    ig.barrier()
    y[ig.gid()] = sh[lid] + base[0]


@ig.kernel(groups=1, block=8)
def S53_upsample(x: In[i32, Literal[8]], y: Out[i32, Literal[16]]) -> None:
    gid = ig.gid()
    y[2 * gid] = x[gid]
    y[2 * gid + 1] = x[gid] + 1


class G8(ig.Dim, equals=G * 8):
    """Elements of G groups of 8."""


@ig.kernel(groups=G, block=8)
def S54_broadcast(x: In[i32, G], y: Out[i32, G8]) -> None:
    sh = ig.shared(i32, 1)
    lid = ig.lid()
    if lid == 0:
        sh[0] = x[ig.group_id()]
    ig.barrier()
    y[ig.gid()] = sh[0] + lid


@ig.kernel(grid=N, block=8)
def S55_rotate_shared(x: In[i32, N], y: Out[i32, N]) -> None:
    sh = ig.shared(i32, 8)
    lid = ig.lid()
    sh[(lid + 1) % 8] = x[ig.gid()]
    ig.barrier()
    y[ig.gid()] = sh[lid]


@ig.kernel(block=4)
def S57_uniform_return(x: In[i32, M], y: InOut[i32, N], limit: i32) -> None:
    sh = ig.shared(i32, 4)
    lid = ig.lid()
    if ig.group_id() >= limit:
        return
    sh[lid] = x[ig.gid()]
    ig.barrier()
    y[ig.gid()] = sh[3 - lid]


@ig.kernel(grid=N, block=4)
def S58_uniform_if_barrier(x: In[i32, N], y: Out[i32, N], mode: i32) -> None:
    sh = ig.shared(i32, 4)
    lid = ig.lid()
    if mode > 0:
        sh[lid] = x[ig.gid()]
        ig.barrier()
        y[ig.gid()] = sh[(lid + mode) % 4]
    else:
        y[ig.gid()] = x[ig.gid()]


@ig.kernel(groups=1, block=8)
def S61_diagonal(a: InOut[i32, M], n: ig.i64) -> None:
    gid = ig.gid()
    if gid < n:
        a[gid * (n + 1)] = 1


@ig.kernel(groups=G, block=4, deterministic=False, races=ig.trust("only the group that counts last writes `out`"))
def S65_last_group_atomic(
    x: In[i32, G4], part: InOut[i32, G], done: InOut[i32, Literal[1]], out: Out[i32, Literal[1]]
) -> None:
    sh = ig.shared(i32, 4)
    lid = ig.lid()
    sh[lid] = x[ig.gid()]
    ig.barrier()
    if lid == 0:
        s = sh[0] + sh[1] + sh[2] + sh[3]
        ig.atomic_store(part, ig.group_id(), s)
        if ig.atomic_add(done, 0, 1) == ig.num_groups() - 1:
            t = i32(0)
            for g in range(ig.num_groups()):
                t += ig.atomic_load(part, g)
            out[0] = t


@ig.kernel(grid=N, block=8)
def S68_gather(x: In[i32, M], idx: In[i32, N], y: Out[i32, N]) -> None:
    gid = ig.gid()
    y[gid] = x[idx[gid]]


@ig.kernel(grid=N, block=8)
def S70_kmeans_assign(x: In[i32, N], c: In[i32, K], lab: Out[i32, N]) -> None:
    gid = ig.gid()
    if gid < N:
        best = 0
        bd = abs(x[gid] - c[0])
        for j in range(1, int(K)):
            d = abs(x[gid] - c[j])
            if d < bd:
                bd = d
                best = j
        lab[gid] = best


@ig.kernel(block=4)
def S74_block_cyclic(x: In[i32, N], y: Out[i32, N]) -> None:
    for k in range(3):
        i = ig.gid() + k * ig.grid_size()
        y[i] = (x[i] * 2 + 3) * x[i] + 1


@ig.kernel(grid=N, block=4)
def S76_shared_reuse_two_phases(x: In[i32, N], y: Out[i32, N], z: Out[i32, N]) -> None:
    sh = ig.shared(i32, 4)
    lid = ig.lid()
    gid = ig.gid()
    sh[lid] = x[gid]
    ig.barrier()
    y[gid] = sh[3 - lid]
    ig.barrier()
    sh[lid] = x[gid] * 2
    ig.barrier()
    z[gid] = sh[(lid + 1) % 4]


@ig.kernel(groups=1, block=8)
def S77_parity_halves(x: In[i32, Literal[8]], y: Out[i32, Literal[8]]) -> None:
    lid = ig.lid()
    if lid % 2 == 0:
        y[lid // 2] = x[lid]
    else:
        y[4 + lid // 2] = x[lid]


@ig.kernel(groups=1, block=4)
def S79_nested_uniform_loops(x: InOut[i32, Literal[4]], n: i32) -> None:
    sh = ig.shared(i32, 4)
    lid = ig.lid()
    for i in range(n):
        for j in range(i + 1):
            sh[lid] = x[lid] + j
            ig.barrier()
            x[lid] = sh[(lid + 1) % 4]
            ig.barrier()
