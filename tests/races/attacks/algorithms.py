"""Whole algorithms of the field, each as it should be and with the fault that people make in it: sparse rows, dynamic
programming, solvers, queues, in-place moves."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32
from isogrid.dims import H, K, M, N, W


class Ends(ig.Dim, equals=M + 1):
    """Where M rows start, and where the last one ends."""


class N2(ig.Dim, equals=N * 2):
    """Twice N."""


# --- warps: where guards part them ------------------------------------------------------------------------------------


@ig.kernel(groups=1, block=8, warp=4)
def warp_guard_inside(x: InOut[i32, Literal[8]]) -> None:  # unsafe
    """Six threads are a warp and a half."""
    i = ig.lid()
    if i < 6:
        ig.warp_barrier()
        x[i] = i


@ig.kernel(groups=1, block=8, warp=4)
def warp_guard_last(x: InOut[i32, Literal[8]]) -> None:  # safe
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = x[i]
    if i <= 3:
        ig.warp_barrier()
        x[i] = s[i ^ 1]
    if not (i <= 3):
        ig.warp_barrier()
        x[i] = s[i ^ 2]


@ig.kernel(groups=1, block=8, warp=4)
def warp_guard_reassigned(x: InOut[i32, Literal[8]]) -> None:  # unsafe
    """The name that is compared no longer holds the place of the thread."""
    i = ig.lid()
    i = i + 2
    if i < 4:
        ig.warp_barrier()
    x[i % 8] = i


@ig.kernel(groups=(1, 1), block=(2, 4), warp=4)
def warp_guard_of_an_axis(x: InOut[i32, Literal[8]]) -> None:  # unsafe
    """The fast axis runs inside a warp."""
    _, b = ig.lids()
    if b < 2:
        ig.warp_barrier()
    x[ig.lid()] = b


@ig.kernel(groups=1, block=8, warp=4)
def warp_roles(x: InOut[i32, Literal[8]]) -> None:  # safe
    """One warp makes what the other uses behind a barrier of the whole group."""
    s = ig.shared(i32, 4)
    i = ig.lid()
    if i < 4:
        s[i] = x[i] * 2
        ig.warp_barrier()
        x[i] = s[3 - i]
    ig.barrier()
    if i >= 4:
        x[i] = s[i - 4]


@ig.kernel(groups=1, block=8, warp=4)
def warp_roles_unsynced(x: InOut[i32, Literal[8]]) -> None:  # unsafe
    s = ig.shared(i32, 4)
    i = ig.lid()
    if i < 4:
        s[i] = x[i] * 2
    else:
        ig.warp_barrier()
        x[i] = s[i - 4]


# --- sparse rows ------------------------------------------------------------------------------------------------------


@ig.kernel(grid=M, block=4)
def spmv_scalar(ptr: In[i32, Ends], col: In[i32, K], val: In[f32, K], x: In[f32, N], y: Out[f32, M]) -> None:  # safe
    r = ig.gid()
    if r < M:
        s = f32(0.0)
        for j in range(ptr[r], ptr[r + 1]):
            s += val[j] * x[col[j]]
        y[r] = s


@ig.kernel(groups=M, block=8, warp=4)
def spmv_vector(ptr: In[i32, Ends], col: In[i32, K], val: In[f32, K], x: In[f32, N], y: Out[f32, M]) -> None:  # safe
    """Bell and Garland, a group for each row: partial sums in shared memory, then a tree."""
    s = ig.shared(f32, 8)
    i = ig.lid()
    r = ig.group_id()
    v = f32(0.0)
    for j in range(ptr[r] + i, ptr[r + 1], 8):
        v += val[j] * x[col[j]]
    s[i] = v
    ig.barrier()
    h = 4
    while h > 0:
        if i < h:
            s[i] += s[i + h]
        ig.barrier()
        h //= 2
    if i == 0:
        y[r] = s[0]


@ig.kernel(groups=M, block=8, warp=4)
def spmv_vector_all_write(
    ptr: In[i32, Ends], col: In[i32, K], val: In[f32, K], x: In[f32, N], y: InOut[f32, M]
) -> None:  # unsafe
    r = ig.group_id()
    for j in range(ptr[r] + ig.lid(), ptr[r + 1], 8):
        y[r] += val[j] * x[col[j]]


@ig.kernel(grid=K, block=4)
def spmv_by_entries(row: In[i32, K], val: In[i32, K], y: InOut[i32, M]) -> None:  # unsafe
    """Coordinate format without atomics."""
    j = ig.gid()
    if j < K:
        y[row[j]] += val[j]


@ig.kernel(grid=K, block=4)
def spmv_by_entries_atomic(row: In[i32, K], val: In[i32, K], y: InOut[i32, M]) -> None:  # safe
    j = ig.gid()
    if j < K:
        ig.atomic_add(y, row[j], val[j])


@ig.kernel(grid=M, block=4)
def rows_scaled(ptr: In[i32, Ends], by: In[i32, M], val: InOut[i32, K]) -> None:  # safe
    """Each thread scales the entries of its own row: the rows are apart because `ptr` is sorted."""
    ig.require(ig.is_sorted(ptr))
    r = ig.gid()
    if r < M:
        for j in range(ptr[r], ptr[r + 1]):
            val[j] *= by[r]


@ig.kernel(grid=M, block=4)
def rows_scaled_closed(ptr: In[i32, Ends], by: In[i32, M], val: InOut[i32, K]) -> None:  # unsafe
    """The end belongs to the next row."""
    ig.require(ig.is_sorted(ptr))
    r = ig.gid()
    if r < M:
        for j in range(ptr[r], ptr[r + 1] + 1):
            val[j] *= by[r]


# --- dynamic programming ----------------------------------------------------------------------------------------------


@ig.kernel(groups=1, block=4)
def wavefront(d: InOut[i32, Literal[5], Literal[5]]) -> None:  # safe
    """Edit distance by antidiagonals, a thread for each row, a barrier for each diagonal."""
    r = ig.lid() + 1
    for k in range(2, 9):
        q = k - r
        if 1 <= q < 5:
            d[r, q] = min(d[r - 1, q], d[r, q - 1]) + 1
        ig.barrier()


@ig.kernel(groups=1, block=4)
def wavefront_by_rows(d: InOut[i32, Literal[5], Literal[5]]) -> None:  # unsafe
    """All columns of a row at once: each needs its left neighbour."""
    q = ig.lid() + 1
    for r in range(1, 5):
        d[r, q] = min(d[r - 1, q], d[r, q - 1]) + 1
        ig.barrier()


@ig.kernel(groups=1, block=4)
def wavefront_no_barrier(d: InOut[i32, Literal[5], Literal[5]]) -> None:  # unsafe
    r = ig.lid() + 1
    for k in range(2, 9):
        q = k - r
        if 1 <= q < 5:
            d[r, q] = min(d[r - 1, q], d[r, q - 1]) + 1


@ig.kernel(groups=1, block=4)
def wavefront_three_lines(n: i32, x: In[i32, N], y: Out[i32, Literal[4]]) -> None:  # safe
    """Three antidiagonals in turn: the new one is written, the two before are read."""
    t = ig.shared(i32, (3, 5))
    i = ig.lid()
    for b in range(3):
        t[b, i + 1] = 0
        if i == 0:
            t[b, 0] = 0
    ig.barrier()
    for k in range(n):
        new, last, old = k % 3, (k + 2) % 3, (k + 1) % 3
        own = x[i] if i < N else 0
        t[new, i + 1] = max(t[last, i], max(t[last, i + 1], t[old, i] + own))
        ig.barrier()
    y[i] = t[0, i + 1] + t[1, i + 1] + t[2, i + 1]


@ig.kernel(groups=1, block=4)
def wavefront_two_lines(n: i32, x: In[i32, N], y: Out[i32, Literal[4]]) -> None:  # unsafe
    """With two lines the oldest is the one being written."""
    t = ig.shared(i32, (2, 5))
    i = ig.lid()
    for b in range(2):
        t[b, i + 1] = 0
        if i == 0:
            t[b, 0] = 0
    ig.barrier()
    for k in range(n):
        new, last = k % 2, (k + 1) % 2
        own = x[i] if i < N else 0
        t[new, i + 1] = max(t[last, i], t[new, i] + own)
        ig.barrier()
    y[i] = t[0, i + 1] + t[1, i + 1]


@ig.kernel(grid=(N, N), block=(4, 4))
def floyd_step(k: i32, d: InOut[i32, N, N]) -> None:  # unsafe
    """One step of Floyd and Warshall in place: row and column k are read while their own threads write them."""
    i, j = ig.gids()
    if i < N and j < N and 0 <= k < N:
        d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@ig.kernel(grid=(N, N), block=(4, 4))
def floyd_step_guarded(k: i32, d: InOut[i32, N, N]) -> None:  # safe
    """Row and column k do not change in step k, so they need no thread."""
    i, j = ig.gids()
    if i < N and j < N and 0 <= k < N and i != k and j != k:
        d[i, j] = min(d[i, j], d[i, k] + d[k, j])


# --- solvers ----------------------------------------------------------------------------------------------------------


@ig.kernel(grid=N, block=4)
def jacobi_apart(x: In[f32, N], y: Out[f32, N]) -> None:  # safe
    i = ig.gid()
    if 0 < i < N - 1:
        y[i] = 0.5 * (x[i - 1] + x[i + 1])


@ig.kernel(grid=N, block=4)
def jacobi_in_place(x: InOut[f32, N]) -> None:  # unsafe
    i = ig.gid()
    if 0 < i < N - 1:
        x[i] = 0.5 * (x[i - 1] + x[i + 1])


@ig.kernel(grid=N, block=4)
def red_black_half(colour: i32, x: InOut[f32, N]) -> None:  # safe
    """Gauss and Seidel in two colours, one launch for each."""
    i = ig.gid()
    j = 2 * i + (1 if colour > 0 else 0)
    if 0 < j < N - 1:
        x[j] = 0.5 * (x[j - 1] + x[j + 1])


@ig.kernel(grid=N, block=4)
def red_black_mixed(colour: i32, x: InOut[f32, N]) -> None:  # unsafe
    """The colour changes from thread to thread."""
    i = ig.gid()
    j = 2 * i + (i % 2)
    if 0 < j < N - 1:
        x[j] = 0.5 * (x[j - 1] + x[j + 1])


@ig.kernel(groups=1, block=8)
def cyclic_reduction(a: InOut[i32, Literal[8]]) -> None:  # safe
    """Forward phase of cyclic reduction: strides double, a barrier for each."""
    t = ig.shared(i32, 8)
    i = ig.lid()
    t[i] = a[i]
    ig.barrier()
    stride = 1
    while stride < 8:
        at = stride * (i + 1) * 2 - 1
        if at < 8:
            t[at] -= t[at - stride]
        stride *= 2
        ig.barrier()
    a[i] = t[i]


@ig.kernel(groups=1, block=8)
def parallel_cyclic_reduction(a: InOut[i32, Literal[8]]) -> None:  # safe
    """Every equation at once: all read, barrier, all write, barrier."""
    t = ig.shared(i32, 8)
    i = ig.lid()
    t[i] = a[i]
    ig.barrier()
    stride = 1
    while stride < 8:
        left = t[i - stride] if i >= stride else 0
        right = t[i + stride] if i + stride < 8 else 0
        ig.barrier()
        t[i] -= left + right
        ig.barrier()
        stride *= 2
    a[i] = t[i]


@ig.kernel(groups=1, block=8)
def parallel_cyclic_reduction_in_place(a: InOut[i32, Literal[8]]) -> None:  # unsafe
    t = ig.shared(i32, 8)
    i = ig.lid()
    t[i] = a[i]
    ig.barrier()
    stride = 1
    while stride < 8:
        left = t[i - stride] if i >= stride else 0
        right = t[i + stride] if i + stride < 8 else 0
        t[i] -= left + right
        ig.barrier()
        stride *= 2
    a[i] = t[i]


@ig.kernel(groups=1, block=4)
def fft_stages(x: InOut[f32, Literal[8]]) -> None:  # safe
    """Butterflies of radix 2: thread i works on the pair whose indices differ in one bit."""
    t = ig.shared(f32, 8)
    i = ig.lid()
    t[i] = x[i]
    t[i + 4] = x[i + 4]
    for k in range(3):
        ig.barrier()
        h = 1 << k
        a = (i // h) * 2 * h + i % h
        u = t[a]
        v = t[a + h]
        t[a] = u + v
        t[a + h] = u - v
    ig.barrier()
    x[i] = t[i]
    x[i + 4] = t[i + 4]


@ig.kernel(groups=1, block=4)
def fft_stages_wrong_block(x: InOut[f32, Literal[8]]) -> None:  # unsafe
    """Blocks of h instead of 2 h: pairs overlap."""
    t = ig.shared(f32, 8)
    i = ig.lid()
    t[i] = x[i]
    t[i + 4] = x[i + 4]
    for k in range(2):
        ig.barrier()
        h = 1 << k
        a = (i // h) * h + i % h
        u = t[a]
        v = t[a + h]
        t[a] = u + v
        t[a + h] = u - v
    ig.barrier()
    x[i] = t[i]
    x[i + 4] = t[i + 4]


# --- moves in place ---------------------------------------------------------------------------------------------------


@ig.kernel(grid=N, block=4)
def reverse_in_place(x: InOut[i32, N2], y: Out[i32, N]) -> None:  # safe
    """A thread for each pair."""
    i = ig.gid()
    if i < N:
        v = x[i]
        x[i] = x[2 * N - 1 - i]
        x[2 * N - 1 - i] = v
        y[i] = v


@ig.kernel(grid=N, block=4)
def reverse_in_place_every_thread(x: InOut[i32, N]) -> None:  # unsafe
    """A thread for each element: both of a pair swap it."""
    i = ig.gid()
    if i < N:
        v = x[i]
        x[i] = x[N - 1 - i]
        x[N - 1 - i] = v


@ig.kernel(grid=N, block=4)
def reverse_in_place_half(x: InOut[i32, N]) -> None:  # safe
    i = ig.gid()
    if 2 * i < N - 1:
        v = x[i]
        x[i] = x[N - 1 - i]
        x[N - 1 - i] = v


@ig.kernel(grid=(N, N), block=(4, 4))
def transpose_in_place(x: InOut[i32, N, N]) -> None:  # safe
    """The threads above the diagonal swap."""
    i, j = ig.gids()
    if i < j and j < N:
        v = x[i, j]
        x[i, j] = x[j, i]
        x[j, i] = v


@ig.kernel(grid=(N, N), block=(4, 4))
def transpose_in_place_all(x: InOut[i32, N, N]) -> None:  # unsafe
    i, j = ig.gids()
    if i < N and j < N:
        v = x[i, j]
        x[i, j] = x[j, i]
        x[j, i] = v


@ig.kernel(grid=(H, W), block=(4, 4))
def flip_rows(x: InOut[i32, H, W]) -> None:  # safe
    r, q = ig.gids()
    if 2 * r < H - 1 and q < W:
        v = x[r, q]
        x[r, q] = x[H - 1 - r, q]
        x[H - 1 - r, q] = v


@ig.kernel(grid=N, block=4)
def shift_in_place(x: InOut[i32, N]) -> None:  # unsafe
    i = ig.gid()
    if i + 1 < N:
        x[i] = x[i + 1]


@ig.kernel(groups=1, block=8)
def shift_by_strides(x: InOut[i32, N]) -> None:  # safe
    """One barrier a trip suffices: what a trip writes, the next one does not read."""
    for j in range(0, N, 8):
        i = j + ig.lid()
        v = x[i + 1] if i + 1 < N else 0
        ig.barrier()
        if i < N:
            x[i] = v


@ig.kernel(groups=1, block=8)
def shift_back_by_strides(x: InOut[i32, N]) -> None:  # unsafe
    """To the right it does: the first thread of a trip reads what the last one of the trip before wrote."""
    for j in range(0, N, 8):
        i = j + ig.lid()
        v = x[i - 1] if 0 < i <= N else 0
        ig.barrier()
        if i < N:
            x[i] = v


# --- queues, slots and locks ------------------------------------------------------------------------------------------


@ig.kernel(grid=N, block=4)
def compact_by_scan(keep: In[bool, N], place: In[i32, N], x: In[i32, N], y: InOut[i32, M]) -> None:  # safe
    """The places come from an earlier scan; that they are different is what the author knows."""
    ig.require(ig.distinct(place, where=keep))
    i = ig.gid()
    if i < N and keep[i]:
        y[place[i]] = x[i]


@ig.kernel(grid=N, block=4)
def compact_by_count(x: In[i32, N], count: InOut[i32, Literal[1]], y: InOut[i32, M]) -> None:  # unsafe
    """A plain counter gives two threads one place."""
    i = ig.gid()
    if i < N and x[i] > 0:
        at = count[0]
        count[0] = at + 1
        y[at] = x[i]


@ig.kernel(grid=N, block=4)
def particles_to_cells(cell: In[i32, N], head: InOut[i32, M], link: Out[i32, N]) -> None:  # unsafe
    """Linked lists for each cell, without an exchange."""
    i = ig.gid()
    if i < N:
        link[i] = head[cell[i]]
        head[cell[i]] = i


@ig.kernel(grid=M, block=4)
def gather_cells(start: In[i32, Ends], x: In[i32, N], y: Out[i32, M]) -> None:  # safe
    r = ig.gid()
    if r < M:
        s = 0
        for j in range(start[r], start[r + 1]):
            s += x[j]
        y[r] = s


@ig.kernel(grid=N, block=4)
def union_by_hooking(edge: In[i32, N], parent: InOut[i32, M]) -> None:  # unsafe
    i = ig.gid()
    if i < N:
        a = edge[i]
        if 0 <= a < M and parent[a] > i:
            parent[a] = i


@ig.kernel(grid=N, block=4)
def union_by_minimum(edge: In[i32, N], parent: InOut[i32, M]) -> None:  # safe
    i = ig.gid()
    if i < N:
        a = edge[i]
        if 0 <= a < M:
            ig.atomic_min(parent, a, i32(i))


@ig.kernel(groups=K, block=4)
def softmax_rows(x: In[f32, K, N], y: InOut[f32, K, N]) -> None:  # safe
    """A row for each group: maximum, sum, quotient, by group operations and strides."""
    r = ig.group_id()
    top = f32(-1.0e30)
    for j in range(ig.lid(), N, 4):
        top = max(top, x[r, j])
    top = ig.group_max(top)
    total = f32(0.0)
    for j in range(ig.lid(), N, 4):
        v = x[r, j] - top
        y[r, j] = v
        total += v
    total = ig.group_sum(total)
    for j in range(ig.lid(), N, 4):
        y[r, j] = y[r, j] / total


@ig.kernel(groups=K, block=4)
def softmax_rows_reversed(x: In[f32, K, N], y: InOut[f32, K, N]) -> None:  # unsafe
    """The second pass takes the elements in another order, and no group operation is between."""
    r = ig.group_id()
    for j in range(ig.lid(), N, 4):
        y[r, j] = x[r, j]
    for j in range(ig.lid(), N, 4):
        y[r, N - 1 - j] = y[r, N - 1 - j] * 0.5
