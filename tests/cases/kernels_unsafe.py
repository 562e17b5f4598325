"""The handed kernels that race, diverge, leave their arrays or overflow. The name of each is its id in `kernels.jsonl`.

The decorator is as an author would write it who believes the kernel is right.
"""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, u32
from isogrid.dims import H, K, M, N, W


class G(ig.Dim):
    """Number of groups."""


@ig.kernel(groups=1, block=16)
def R02_missing_barrier_reduce(x: In[i32, Literal[16]], out: Out[i32, Literal[1]]) -> None:
    sh = ig.shared(i32, 16)
    lid = ig.lid()
    sh[lid] = x[ig.gid()]
    ig.barrier()
    s = 8
    while s > 0:
        if lid < s:
            sh[lid] += sh[lid + s]
        s //= 2
    if lid == 0:
        out[0] = sh[0]


@ig.kernel(groups=(1, 1), block=(4, 4))
def R03_tile_missing_second_barrier(a: In[i32, N, N], b: In[i32, N, N], c: Out[i32, N, N]) -> None:
    ta = ig.shared(i32, (4, 4))
    tb = ig.shared(i32, (4, 4))
    gy, gx = ig.gids()
    ly, lx = ig.lids()
    acc = i32(0)
    for t in range(N // 4):
        ta[ly, lx] = a[gy, t * 4 + lx]
        tb[ly, lx] = b[t * 4 + ly, gx]
        ig.barrier()
        for k in range(4):
            acc += ta[ly, k] * tb[k, lx]
    c[gy, gx] = acc


@ig.kernel(groups=1, block=8)
def R04_wrong_stride(x: In[i32, Literal[8]], y: Out[i32, Literal[17]]) -> None:
    gid = ig.gid()
    y[2 * gid] = x[gid]
    y[2 * gid + 2] = x[gid]


@ig.kernel(groups=1, block=8)
def R07_same_index(y: Out[i32, Literal[1]]) -> None:
    y[0] = ig.gid()


@ig.kernel(grid=N, block=8)
def R08_gid_half(x: In[i32, N], y: Out[i32, M]) -> None:
    y[ig.gid() // 2] = x[ig.gid()]


@ig.kernel(grid=N, block=8)
def R09_gid_mod(x: In[i32, N], y: Out[i32, K]) -> None:
    y[ig.gid() % K] = x[ig.gid()]


@ig.kernel(grid=N, block=8)
def R10_data_index(x: In[i32, N], p: In[i32, N], y: Out[i32, N]) -> None:
    y[p[ig.gid()]] = x[ig.gid()]


@ig.kernel(grid=N, block=4)
def R15_counter_plain(x: In[i32, N], c: InOut[i32, Literal[1]]) -> None:
    if x[ig.gid()] > 3:
        c[0] = c[0] + 1


@ig.kernel(groups=1, block=8)
def R17_reduce_wrong_mod(x: In[i32, Literal[8]], out: Out[i32, Literal[1]]) -> None:
    sh = ig.shared(i32, 16)
    lid = ig.lid()
    sh[lid] = x[ig.gid()]
    ig.barrier()
    s = 1
    while s < 8:
        if lid % s == 0:
            sh[lid] += sh[lid + s]
        ig.barrier()
        s *= 2
    if lid == 0:
        out[0] = sh[0]


@ig.kernel(grid=N, block=8)
def R19_out_lid_two_groups(x: In[i32, N], out: Out[i32, Literal[8]]) -> None:
    out[ig.lid()] = x[ig.gid()] + 1


@ig.kernel(groups=1, block=8)
def R23_bitonic_no_owner(x: InOut[i32, Literal[8]], j: i32) -> None:
    sh = ig.shared(i32, 8)
    lid = ig.lid()
    sh[lid] = x[lid]
    ig.barrier()
    p = lid ^ ig.i64(j)
    if sh[lid] > sh[p]:
        t = sh[lid]
        sh[lid] = sh[p]
        sh[p] = t
    ig.barrier()
    x[lid] = sh[lid]


@ig.kernel(groups=1, block=4)
def R32_blelloch_no_barrier(x: InOut[i32, Literal[8]]) -> None:
    sh = ig.shared(i32, 8)
    lid = ig.lid()
    sh[2 * lid] = x[2 * lid]
    sh[2 * lid + 1] = x[2 * lid + 1]
    ig.barrier()
    off = 4
    d = 1
    while d < 8:
        if lid < d:
            a = off * (2 * lid + 1) - 1
            b = off * (2 * lid + 2) - 1
            t = sh[a]
            sh[a] = sh[b]
            sh[b] += t
        off //= 2
        d *= 2
    ig.barrier()
    x[2 * lid] = sh[2 * lid]
    x[2 * lid + 1] = sh[2 * lid + 1]


@ig.kernel(groups=1, block=8, warp=4)
def R34_every_lane_writes_slot(x: In[i32, Literal[8]], y: Out[i32, Literal[8]]) -> None:
    part = ig.shared(i32, 2)
    lid = ig.lid()
    part[ig.warp_id()] = x[lid]
    ig.barrier()
    y[lid] = part[ig.warp_id()]


@ig.kernel(grid=N, block=8)
def R36_xor_inplace(x: InOut[i32, N]) -> None:
    gid = ig.gid()
    x[gid] = x[gid ^ 1]


@ig.kernel(groups=1, block=8)
def R39_square_mod(y: Out[i32, N]) -> None:
    gid = ig.gid()
    y[(gid * gid) % N] = gid


@ig.kernel(groups=G, block=2, deterministic=False)
def R43_lookback_plain_value(x: In[i32, G], y: Out[i32, G], agg: InOut[i32, G], flag: InOut[i32, G]) -> None:
    group_id = ig.group_id()
    if ig.lid() == 0:
        pre = i32(0)
        if group_id > 0:
            while ig.atomic_load(flag, group_id - 1) == 0:
                pass
            pre = agg[group_id - 1]
        agg[group_id] = pre + x[group_id]
        ig.atomic_store(flag, group_id, 1)
        y[group_id] = pre


@ig.kernel(groups=(1, 1), block=(4, 4))
def R44_lu_no_barrier(a: InOut[f32, Literal[4], Literal[4]]) -> None:
    gy, gx = ig.gids()
    for k in range(3):
        if gx == k and gy > k:
            a[gy, k] = a[gy, k] / a[k, k]
        if gx > k and gy > k:
            a[gy, gx] = a[gy, gx] - a[gy, k] * a[k, gx]
        ig.barrier()


@ig.kernel(groups=1, block=8)
def R45_shared_atomic_then_plain(x: In[i32, Literal[8]], y: Out[i32, Literal[8]]) -> None:
    c = ig.shared(i32, 1)
    lid = ig.lid()
    if x[lid] > 2:
        ig.atomic_add(c, 0, 1)
    y[lid] = c[0]


@ig.kernel(grid=N, block=8)
def R47_own_and_next(y: Out[i32, N]) -> None:
    gid = ig.gid()
    y[gid] = 1
    y[(gid + 1) % N] = 2


@ig.kernel(grid=N, block=4)
def R48_inter_group_halo_read(x: InOut[i32, N]) -> None:
    gid = ig.gid()
    v = x[gid]
    if gid + 1 < N:
        v += x[gid + 1]
    ig.barrier()
    x[gid] = v


@ig.kernel(grid=N, block=8)
def R51_same_value_write(x: In[i32, N], flag: Out[i32, Literal[1]]) -> None:
    if x[ig.gid()] == 3:
        flag[0] = 1


@ig.kernel(groups=1, block=8, warp=4)
def R52_warp_sync_two_warps(x: In[i32, Literal[8]], y: Out[i32, Literal[8]]) -> None:
    sh = ig.shared(i32, 8)
    lid = ig.lid()
    sh[lid] = x[lid]
    ig.warp_barrier()
    y[lid] = sh[7 - lid]


@ig.kernel(grid=N, block=4)
def R53_symbolic_stride_zero(x: In[i32, N], y: Out[i32, M], k: i32) -> None:
    y[ig.gid() * k] = x[ig.gid()]


@ig.kernel(grid=N, block=8)
def D02_early_return(x: In[i32, N], y: Out[i32, N]) -> None:
    sh = ig.shared(i32, 8)
    gid = ig.gid()
    if gid >= N:
        return
    sh[ig.lid()] = x[gid]
    ig.barrier()
    y[gid] = sh[0]


@ig.kernel(groups=1, block=4)
def D03_trip_count_lid(x: InOut[i32, Literal[4]]) -> None:
    lid = ig.lid()
    for _ in range(lid):
        x[lid] = x[lid] + 1
        ig.barrier()


@ig.kernel(groups=1, block=4)
def D04_two_arms(x: InOut[i32, Literal[4]], y: Out[i32, Literal[4]]) -> None:
    lid = ig.lid()
    if lid % 2 == 0:
        x[lid] = 1
        ig.barrier()
    else:
        x[lid] = 2
        ig.barrier()
    y[lid] = x[lid]


@ig.kernel(groups=1, block=4)
def D06_break_before_barrier(x: In[i32, Literal[4]], n: i32) -> None:
    lid = ig.lid()
    for k in range(n):
        if x[lid] == k:
            break
        ig.barrier()


@ig.kernel(groups=1, block=6, warp=4)
def D09_partial_warp(x: In[i32, Literal[6]], y: Out[i32, Literal[6]]) -> None:
    lid = ig.lid()
    y[lid] = ig.shuffle_xor(x[lid], 1)


@ig.kernel(groups=1, block=4)
def D13_inner_loop_parity(x: InOut[i32, Literal[4]]) -> None:
    lid = ig.lid()
    for _ in range(2):
        for _ in range(lid % 2):
            x[lid] = x[lid] + 1
            ig.barrier()


@ig.kernel(groups=1, block=4, warp=4)
def D14_warp_sync_after_return(x: InOut[i32, Literal[4]]) -> None:
    lid = ig.lid()
    if ig.lane_id() == 3:
        return
    x[lid] = x[lid] + 1
    ig.warp_barrier()


@ig.kernel(groups=1, block=4)
def D15_or_condition(x: InOut[i32, Literal[4]], mode: i32) -> None:
    lid = ig.lid()
    if mode > 5 or x[lid] > 2:
        ig.barrier()
    x[lid] = 0


@ig.kernel(groups=(1, 1), block=(4, 4))
def D16_2d_row_guard(a: InOut[i32, H, W]) -> None:
    t = ig.shared(i32, (4, 4))
    gy, gx = ig.gids()
    ly, lx = ig.lids()
    if gy < H:
        t[ly, lx] = a[gy, gx]
        ig.barrier()
        a[gy, gx] = t[ly, lx] + 1


@ig.kernel(groups=1, block=4)
def D17_loop_bound_from_array(ptr: In[i32, Literal[5]], x: InOut[i32, Literal[4]]) -> None:
    lid = ig.lid()
    for k in range(ptr[lid], ptr[lid + 1]):
        x[lid] = x[lid] + k
        ig.barrier()


@ig.kernel(block=8)
def O05_guard_le(x: In[i32, N], y: Out[i32, N]) -> None:
    gid = ig.gid()
    if gid <= N:
        y[gid] = x[gid]


@ig.kernel(block=4)
def O10_gridstride_le(x: Out[i32, N]) -> None:
    i = ig.gid()
    while i <= N:
        x[i] = i
        i += ig.grid_size()


@ig.kernel(grid=M, block=2)
def V02_sum_i32(x: In[i32, N], y: Out[i32, M]) -> None:
    acc = i32(0)
    for k in range(N):
        acc += x[k]
    y[ig.gid()] = acc if acc < 0 else 0


@ig.kernel(grid=M, block=4)
def V04_shift(y: Out[i32, M], k: i32) -> None:
    gid = ig.gid()
    y[gid] = (i32(1) << (k + gid)) & 1


@ig.kernel(grid=N, block=2)
def V07_negate_min(x: In[i32, N], y: Out[i32, N]) -> None:
    gid = ig.gid()
    v = -x[gid]
    y[gid] = v & 1


@ig.kernel(grid=N, block=2)
def V08_midpoint(y: Out[i32, N], lo: i32, hi: i32) -> None:
    m = (lo + hi) // 2
    y[ig.gid()] = m & 1


@ig.kernel(grid=N, block=4)
def V10_u32_negative(y: Out[u32, N]) -> None:
    gid = ig.gid()
    y[gid] = gid - 2


@ig.kernel(grid=M, block=4)
def V13_accumulate_polynomial(x: In[i32, N], y: Out[i32, M]) -> None:
    h = i32(7)
    for k in range(N):
        h = h * 31 + x[k]
    y[ig.gid()] = h & 255
