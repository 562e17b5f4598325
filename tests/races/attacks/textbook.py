"""Kernels of CUDA textbooks, each as it should be and with the fault that people make in it."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32
from isogrid.dims import H, N, W


class G(ig.Dim):
    """Number of groups."""


class G8(ig.Dim, equals=G * 8):
    """Elements of G groups of 8."""


# --- prefix sums ------------------------------------------------------------------------------------------------------


@ig.kernel(groups=1, block=4)
def blelloch_two_each(x: InOut[i32, Literal[8]]) -> None:  # safe
    """Harris, GPU Gems 3: each thread loads two elements, `offset` doubles while `d` halves."""
    t = ig.shared(i32, 8)
    i = ig.lid()
    t[2 * i] = x[2 * i]
    t[2 * i + 1] = x[2 * i + 1]
    offset = 1
    d = 4
    while d > 0:
        ig.barrier()
        if i < d:
            a = offset * (2 * i + 1) - 1
            b = offset * (2 * i + 2) - 1
            t[b] += t[a]
        offset *= 2
        d //= 2
    if i == 0:
        t[7] = 0
    d = 1
    while d < 8:
        offset //= 2
        ig.barrier()
        if i < d:
            a = offset * (2 * i + 1) - 1
            b = offset * (2 * i + 2) - 1
            v = t[a]
            t[a] = t[b]
            t[b] += v
        d *= 2
    ig.barrier()
    x[2 * i] = t[2 * i]
    x[2 * i + 1] = t[2 * i + 1]


@ig.kernel(groups=1, block=4)
def blelloch_no_last_barrier(x: InOut[i32, Literal[8]]) -> None:  # safe
    """The last step of the down sweep leaves each thread with its own pair, so nothing is to be waited for."""
    t = ig.shared(i32, 8)
    i = ig.lid()
    t[2 * i] = x[2 * i]
    t[2 * i + 1] = x[2 * i + 1]
    offset = 1
    d = 4
    while d > 0:
        ig.barrier()
        if i < d:
            a = offset * (2 * i + 1) - 1
            b = offset * (2 * i + 2) - 1
            t[b] += t[a]
        offset *= 2
        d //= 2
    if i == 0:
        t[7] = 0
    d = 1
    while d < 8:
        offset //= 2
        ig.barrier()
        if i < d:
            a = offset * (2 * i + 1) - 1
            b = offset * (2 * i + 2) - 1
            v = t[a]
            t[a] = t[b]
            t[b] += v
        d *= 2
    x[2 * i] = t[2 * i]
    x[2 * i + 1] = t[2 * i + 1]


@ig.kernel(groups=1, block=4)
def blelloch_two_halves(x: InOut[i32, Literal[8]]) -> None:  # safe
    """Conflict-free loading: elements i and i + n/2, with one element of padding for every four."""
    t = ig.shared(i32, 10)
    i = ig.lid()
    j = i + 4
    t[i + i // 4] = x[i]
    t[j + j // 4] = x[j]
    ig.barrier()
    x[i] = t[j + j // 4]
    x[j] = t[i + i // 4]


@ig.kernel(groups=1, block=4)
def blelloch_padding_of_one_half(x: InOut[i32, Literal[8]]) -> None:  # unsafe
    """The halves are three apart, so that two threads load one element."""
    t = ig.shared(i32, 10)
    i = ig.lid()
    j = i + 3
    t[i + i // 4] = x[i]
    t[j + j // 4] = x[j]
    ig.barrier()
    x[i] = t[i + i // 4]


@ig.kernel(groups=1, block=8)
def scan_double_buffer(x: InOut[i32, Literal[8]]) -> None:  # safe
    """Hillis and Steele with two halves of one buffer: `pout` and `pin` swap, one barrier a step."""
    t = ig.shared(i32, (2, 8))
    i = ig.lid()
    pout = 0
    t[0, i] = x[i - 1] if i > 0 else 0
    ig.barrier()
    offset = 1
    while offset < 8:
        pout = 1 - pout
        if i >= offset:
            t[pout, i] = t[1 - pout, i] + t[1 - pout, i - offset]
        else:
            t[pout, i] = t[1 - pout, i]
        ig.barrier()
        offset *= 2
    x[i] = t[pout, i]


@ig.kernel(groups=1, block=8)
def scan_double_buffer_stale(x: InOut[i32, Literal[8]]) -> None:  # unsafe
    """As printed in the book: the sum is added to the half that is being written."""
    t = ig.shared(i32, (2, 8))
    i = ig.lid()
    pout = 0
    t[0, i] = x[i]
    ig.barrier()
    offset = 1
    while offset < 8:
        pout = 1 - pout
        t[pout, i] = t[1 - pout, i]
        if i >= offset:
            t[pout, i] += t[pout, i - offset]
        ig.barrier()
        offset *= 2
    x[i] = t[pout, i]


@ig.kernel(groups=G, block=8)
def add_block_sums(sums: In[i32, G], x: InOut[i32, G8]) -> None:  # safe
    s = ig.shared(i32, 1)
    if ig.lid() == 0:
        s[0] = sums[ig.group_id()]
    ig.barrier()
    x[ig.gid()] += s[0]


@ig.kernel(groups=G, block=8)
def add_block_sums_unsynced(sums: In[i32, G], x: InOut[i32, G8]) -> None:  # unsafe
    s = ig.shared(i32, 1)
    if ig.lid() == 7:
        s[0] = sums[ig.group_id()]
    x[ig.gid()] += s[0]


@ig.kernel(groups=G, block=8)
def chained_scan(sums: InOut[i32, G], x: InOut[i32, G8]) -> None:  # unsafe
    """Each group waits for the sum of the one before: groups are not ordered."""
    g = ig.group_id()
    if ig.lid() == 0 and g > 0:
        sums[g] = sums[g - 1] + x[g * 8]
    ig.barrier()
    x[ig.gid()] += sums[g]


# --- sorting ----------------------------------------------------------------------------------------------------------


@ig.kernel(groups=1, block=4)
def odd_even_by_threads(n: i32, x: InOut[i32, Literal[8]]) -> None:  # safe
    """Odd-even transposition with a thread for each pair."""
    t = ig.shared(i32, 8)
    i = ig.lid()
    t[i] = x[i]
    t[i + 4] = x[i + 4]
    ig.barrier()
    for step in range(n):
        a = 2 * i + step % 2
        if a + 1 < 8 and t[a] > t[a + 1]:
            v = t[a]
            t[a] = t[a + 1]
            t[a + 1] = v
        ig.barrier()
    x[i] = t[i]
    x[i + 4] = t[i + 4]


@ig.kernel(groups=1, block=8)
def odd_even_every_pair(n: i32, x: InOut[i32, Literal[8]]) -> None:  # unsafe
    """A thread for each element: neighbours compare the same pair."""
    t = ig.shared(i32, 8)
    i = ig.lid()
    t[i] = x[i]
    ig.barrier()
    for step in range(n):
        a = i + step % 2
        if a + 1 < 8 and t[a] > t[a + 1]:
            v = t[a]
            t[a] = t[a + 1]
            t[a + 1] = v
        ig.barrier()
    x[i] = t[i]


@ig.kernel(groups=1, block=8)
def rank_sort(x: InOut[i32, Literal[8]]) -> None:  # not proved
    """Every element counts those before it; that ranks differ is a theorem about sorting."""
    t = ig.shared(i32, 8)
    i = ig.lid()
    t[i] = x[i]
    ig.barrier()
    rank = 0
    for j in range(8):
        if t[j] < t[i] or (t[j] == t[i] and j < i):
            rank += 1
    x[rank] = t[i]


@ig.kernel(groups=1, block=8)
def rank_sort_ties(x: InOut[i32, Literal[8]]) -> None:  # unsafe
    t = ig.shared(i32, 8)
    i = ig.lid()
    t[i] = x[i]
    ig.barrier()
    rank = 0
    for j in range(8):
        if t[j] < t[i]:
            rank += 1
    x[rank] = t[i]


@ig.kernel(groups=1, block=4)
def merge_step(w: i32, x: In[i32, Literal[16]], y: Out[i32, Literal[16]]) -> None:  # safe
    """Each thread copies its own run of four, whatever it starts from."""
    i = ig.lid()
    for j in range(4):
        y[4 * i + j] = x[(4 * i + j + w % 4) % 16] if w >= 0 else 0


@ig.kernel(groups=1, block=4)
def merge_step_long(w: i32, x: In[i32, Literal[16]], y: Out[i32, Literal[20]]) -> None:  # unsafe
    i = ig.lid()
    for j in range(5):
        y[4 * i + j] = x[(4 * i + j) % 16]


# --- tiles ------------------------------------------------------------------------------------------------------------


@ig.kernel(grid=(H, W), block=(4, 4))
def transpose_tile(x: In[i32, H, W], y: Out[i32, W, H]) -> None:  # safe
    """Ruetsch and Micikevicius: the second index swaps the groups, not the threads."""
    t = ig.shared(i32, (4, 5))
    r, q = ig.gids()
    a, b = ig.lids()
    if r < H and q < W:
        t[a, b] = x[r, q]
    ig.barrier()
    gr, gq = ig.group_ids()
    r2 = gq * 4 + a
    q2 = gr * 4 + b
    if r2 < W and q2 < H:
        y[r2, q2] = t[b, a]


@ig.kernel(grid=(H, W), block=(4, 4))
def transpose_tile_same_groups(x: In[i32, H, W], y: Out[i32, H, W]) -> None:  # safe
    """Groups that are not swapped give a wrong matrix, but no race."""
    t = ig.shared(i32, (4, 4))
    r, q = ig.gids()
    a, b = ig.lids()
    if r < H and q < W:
        t[a, b] = x[r, q]
    ig.barrier()
    if r < H and q < W:
        y[r, q] = t[b, a]


@ig.kernel(grid=(H, W), block=(4, 4))
def transpose_tile_no_barrier(x: In[i32, H, W], y: Out[i32, W, H]) -> None:  # unsafe
    t = ig.shared(i32, (4, 5))
    r, q = ig.gids()
    a, b = ig.lids()
    if r < H and q < W:
        t[a, b] = x[r, q]
        y[q, r] = t[b, a]


@ig.kernel(grid=N, block=16)
def transpose_flat_padded(x: InOut[i32, N]) -> None:  # safe
    """A tile of 4 by 4 with rows of 5 in a flat buffer."""
    t = ig.shared(i32, 20)
    i = ig.lid()
    g = ig.gid()
    if g < N:
        t[i // 4 * 5 + i % 4] = x[g]
    ig.barrier()
    if g < N:
        x[g] = t[i % 4 * 5 + i // 4]


@ig.kernel(grid=N, block=16)
def transpose_flat_short_pitch(x: InOut[i32, N]) -> None:  # unsafe
    """Rows of 3 for 4 columns: the last column of one row is the first of the next."""
    t = ig.shared(i32, 16)
    i = ig.lid()
    g = ig.gid()
    if g < N:
        t[i // 4 * 3 + i % 4] = x[g]
    ig.barrier()
    if g < N:
        x[g] = t[i % 4 * 3 + i // 4]


@ig.kernel(grid=(H, W), block=(4, 4))
def stencil_tile(x: In[f32, H, W], y: Out[f32, H, W]) -> None:  # safe
    """Five points with a tile of 6 by 6: the edges are loaded by the threads at the edges."""
    t = ig.shared(f32, (6, 6))
    r, q = ig.gids()
    a, b = ig.lids()
    if r < H and q < W:
        t[a + 1, b + 1] = x[r, q]
        if a == 0 and r > 0:
            t[0, b + 1] = x[r - 1, q]
        if a == 3 and r + 1 < H:
            t[5, b + 1] = x[r + 1, q]
        if b == 0 and q > 0:
            t[a + 1, 0] = x[r, q - 1]
        if b == 3 and q + 1 < W:
            t[a + 1, 5] = x[r, q + 1]
    ig.barrier()
    if 0 < r < H - 1 and 0 < q < W - 1:
        y[r, q] = t[a, b + 1] + t[a + 2, b + 1] + t[a + 1, b] + t[a + 1, b + 2] - 4.0 * t[a + 1, b + 1]


@ig.kernel(grid=(H, W), block=(4, 4))
def stencil_tile_thin(x: In[f32, H, W], y: Out[f32, H, W]) -> None:  # unsafe
    """The lower halo row is one too high, where the last threads write their own."""
    t = ig.shared(f32, (6, 6))
    r, q = ig.gids()
    a, b = ig.lids()
    if r < H and q < W:
        t[a + 1, b + 1] = x[r, q]
        if a == 0 and r + 4 < H:
            t[4, b + 1] = x[r + 4, q]
    ig.barrier()
    if 0 < r < H - 1 and 0 < q < W - 1:
        y[r, q] = t[a, b + 1] + t[a + 2, b + 1]


@ig.kernel(grid=N, block=8)
def stencil_radius(x: In[i32, N], y: Out[i32, N]) -> None:  # safe
    """Radius 2, as in the CUDA introduction: the first two threads load both halos."""
    t = ig.shared(i32, 12)
    g = ig.gid()
    i = ig.lid()
    t[i + 2] = x[g] if g < N else 0
    if i < 2:
        t[i] = x[g - 2] if g >= 2 and g - 2 < N else 0
        t[i + 10] = x[g + 8] if g + 8 < N else 0
    ig.barrier()
    s = 0
    for j in range(-2, 3):
        s += t[i + 2 + j]
    if g < N:
        y[g] = s


@ig.kernel(grid=N, block=8)
def stencil_radius_early(x: In[i32, N], y: Out[i32, N]) -> None:  # unsafe
    t = ig.shared(i32, 12)
    g = ig.gid()
    i = ig.lid()
    t[i + 2] = x[g] if g < N else 0
    ig.barrier()
    if i < 2:
        t[i] = x[g - 2] if g >= 2 and g - 2 < N else 0
        t[i + 10] = x[g + 8] if g + 8 < N else 0
    s = 0
    for j in range(-2, 3):
        s += t[i + 2 + j]
    if g < N:
        y[g] = s


@ig.kernel(groups=1, block=8)
def rolling_tiles(n: i32, x: In[i32, N], y: InOut[i32, Literal[8]]) -> None:  # safe
    """Software pipelining: the next tile is loaded while this one is used, two buffers, one barrier."""
    t = ig.shared(i32, (2, 8))
    i = ig.lid()
    t[0, i] = x[i] if i < N else 0
    ig.barrier()
    s = 0
    for k in range(n):
        at = (k + 1) * 8 + i
        t[(k + 1) % 2, i] = x[at] if 0 <= at < N else 0
        for j in range(8):
            s += t[k % 2, j]
        ig.barrier()
    y[i] = s


@ig.kernel(groups=1, block=8)
def rolling_tiles_one_buffer(n: i32, x: In[i32, N], y: InOut[i32, Literal[8]]) -> None:  # unsafe
    t = ig.shared(i32, 8)
    i = ig.lid()
    t[i] = x[i] if i < N else 0
    ig.barrier()
    s = 0
    for k in range(n):
        for j in range(8):
            s += t[j]
        at = (k + 1) * 8 + i
        t[i] = x[at] if 0 <= at < N else 0
        ig.barrier()
    y[i] = s


# --- reductions -------------------------------------------------------------------------------------------------------


@ig.kernel(groups=1, block=16, warp=4)
def reduce_warp_tail(x: In[i32, Literal[16]], y: Out[i32, Literal[1]]) -> None:  # safe
    """The last warp needs only warp barriers, one between reading and writing of each step."""
    s = ig.shared(i32, 16)
    i = ig.lid()
    s[i] = x[i]
    ig.barrier()
    if i < 8:
        s[i] += s[i + 8]
    ig.barrier()
    if i < 4:
        s[i] += s[i + 4]
        ig.warp_barrier()
        v = s[i] + s[i ^ 2]
        ig.warp_barrier()
        s[i] = v
        ig.warp_barrier()
        v = s[i] + s[i ^ 1]
        if i == 0:
            y[0] = v


@ig.kernel(groups=1, block=16, warp=4)
def reduce_warp_tail_volatile(x: In[i32, Literal[16]], y: Out[i32, Literal[1]]) -> None:  # unsafe
    """Harris's `volatile` tail of 2007: warps are not in step."""
    s = ig.shared(i32, 16)
    i = ig.lid()
    s[i] = x[i]
    ig.barrier()
    if i < 8:
        s[i] += s[i + 8]
    ig.barrier()
    if i < 4:
        s[i] += s[i + 4]
        s[i] += s[(i + 2) % 16]
        s[i] += s[(i + 1) % 16]
    if i == 0:
        y[0] = s[0]


@ig.kernel(groups=1, block=16, warp=4)
def reduce_warp_tail_too_early(x: In[i32, Literal[16]], y: Out[i32, Literal[1]]) -> None:  # unsafe
    """Two warps are still at work where the barriers of one begin."""
    s = ig.shared(i32, 16)
    i = ig.lid()
    s[i] = x[i]
    ig.barrier()
    if i < 8:
        s[i] += s[i + 8]
        ig.warp_barrier()
    if i < 4:
        s[i] += s[i + 4]
    ig.barrier()
    if i == 0:
        y[0] = s[0] + s[1] + s[2] + s[3]


@ig.kernel(groups=G, block=8, warp=4)
def reduce_by_warps(x: In[i32, G8], y: Out[i32, G]) -> None:  # safe
    """A sum for each warp through shuffles, then the first warp adds them."""
    s = ig.shared(i32, 2)
    v = ig.warp_sum(x[ig.gid()])
    if ig.lane_id() == 0:
        s[ig.warp_id()] = v
    ig.barrier()
    if ig.lid() == 0:
        y[ig.group_id()] = s[0] + s[1]


@ig.kernel(groups=G, block=8, warp=4)
def reduce_by_warps_all_lanes(x: In[i32, G8], y: Out[i32, G]) -> None:  # unsafe
    s = ig.shared(i32, 2)
    v = ig.warp_sum(x[ig.gid()])
    s[ig.warp_id()] = v + ig.lane_id()
    ig.barrier()
    if ig.lid() == 0:
        y[ig.group_id()] = s[0] + s[1]


@ig.kernel(groups=G, block=8)
def reduce_sequential(x: In[i32, G8], y: Out[i32, G]) -> None:  # safe
    """Harris, kernel 3: sequential addressing with a for loop over strides."""
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = x[ig.gid()]
    ig.barrier()
    h = 4
    while h > 0:
        if i < h:
            s[i] += s[i + h]
        ig.barrier()
        h >>= 1
    if i == 0:
        y[ig.group_id()] = s[0]


@ig.kernel(groups=G, block=8)
def reduce_sequential_wide(x: In[i32, G8], y: Out[i32, G]) -> None:  # unsafe
    """The guard lets one thread too many in."""
    s = ig.shared(i32, 16)
    i = ig.lid()
    s[i] = x[ig.gid()]
    ig.barrier()
    h = 4
    while h > 0:
        if i <= h:
            s[i] += s[i + h]
        ig.barrier()
        h >>= 1
    if i == 0:
        y[ig.group_id()] = s[0]


@ig.kernel(grid=N, block=8)
def reduce_to_one_cell(x: In[i32, N], y: InOut[i32, Literal[1]]) -> None:  # unsafe
    """Every group adds its sum to one cell."""
    i = ig.gid()
    total = ig.group_sum(x[i] if i < N else 0)
    if ig.lid() == 0:
        y[0] += total


@ig.kernel(grid=N, block=8)
def reduce_atomically(x: In[i32, N], y: InOut[i32, Literal[1]]) -> None:  # safe
    i = ig.gid()
    total = ig.group_sum(x[i] if i < N else 0)
    if ig.lid() == 0:
        ig.atomic_add(y, 0, total)


# --- histograms -------------------------------------------------------------------------------------------------------


@ig.kernel(grid=N, block=8)
def histogram_private(x: In[i32, N], h: InOut[i32, Literal[4]]) -> None:  # safe
    """Kirk and Hwu: a histogram for each group, cleared, filled and added."""
    p = ig.shared(i32, 4)
    i = ig.lid()
    if i < 4:
        p[i] = 0
    ig.barrier()
    g = ig.gid()
    if g < N:
        v = x[g]
        if 0 <= v < 4:
            ig.atomic_add(p, v, 1)
    ig.barrier()
    if i < 4:
        ig.atomic_add(h, i, p[i])


@ig.kernel(grid=N, block=8)
def histogram_private_cleared_late(x: In[i32, N], h: InOut[i32, Literal[4]]) -> None:  # unsafe
    p = ig.shared(i32, 4)
    i = ig.lid()
    if i < 4:
        p[i] = 0
    g = ig.gid()
    if g < N:
        v = x[g]
        if 0 <= v < 4:
            ig.atomic_add(p, v, 1)
    ig.barrier()
    if i < 4:
        ig.atomic_add(h, i, p[i])


@ig.kernel(grid=N, block=8)
def histogram_private_plain_merge(x: In[i32, N], h: InOut[i32, Literal[4]]) -> None:  # unsafe
    p = ig.shared(i32, 4)
    i = ig.lid()
    if i < 4:
        p[i] = 0
    ig.barrier()
    g = ig.gid()
    if g < N:
        v = x[g]
        if 0 <= v < 4:
            ig.atomic_add(p, v, 1)
    ig.barrier()
    if i < 4:
        h[i] += p[i]


@ig.kernel(groups=1, block=8, warp=4)
def histogram_by_warps(x: In[i32, Literal[8]], h: Out[i32, Literal[4]]) -> None:  # safe
    """One row of counters for each warp, then one thread for each bin."""
    p = ig.shared(i32, (2, 4))
    i = ig.lid()
    p[i // 4, i % 4] = 0
    ig.barrier()
    v = x[i]
    if 0 <= v < 4:
        ig.atomic_add(p, (ig.warp_id(), v), 1)
    ig.barrier()
    if i < 4:
        h[i] = p[0, i] + p[1, i]


@ig.kernel(groups=1, block=8)
def histogram_by_threads(x: In[i32, N], h: Out[i32, Literal[4]]) -> None:  # safe
    """A column for each thread: plain updates suffice."""
    p = ig.shared(i32, (4, 8))
    i = ig.lid()
    for b in range(4):
        p[b, i] = 0
    for j in range(i, N, 8):
        v = x[j]
        if 0 <= v < 4:
            p[v, i] += 1
    ig.barrier()
    if i < 4:
        s = 0
        for t in range(8):
            s += p[i, t]
        h[i] = s


@ig.kernel(groups=1, block=8)
def histogram_by_threads_mod(x: In[i32, N], h: Out[i32, Literal[4]]) -> None:  # unsafe
    """Columns for four threads only."""
    p = ig.shared(i32, (4, 4))
    i = ig.lid()
    for b in range(4):
        p[b, i % 4] = 0
    ig.barrier()
    for j in range(i, N, 8):
        v = x[j]
        if 0 <= v < 4:
            p[v, i % 4] += 1
    ig.barrier()
    if i < 4:
        h[i] = p[i, 0] + p[i, 1] + p[i, 2] + p[i, 3]


# --- several elements a thread ----------------------------------------------------------------------------------------


@ig.kernel(groups=lambda g: (g, 1), block=(2, 2))
def register_tile(g: i32, x: In[i32, H, W], y: Out[i32, H, W]) -> None:  # safe
    """Four by four sums a thread: the stores of a group of four make a tile of eight by eight."""
    ty, tx = ig.lids()
    for i in range(4):
        for j in range(4):
            r = 8 * ig.group_id(0) + 4 * ty + i
            q = 4 * tx + j
            if r < H and q < W:
                y[r, q] = x[r, q]


@ig.kernel(grid=N, block=4)
def own_run(n: i32, x: In[i32, N], y: InOut[i32, W]) -> None:  # safe
    """Up to eight elements for each thread, however many the launch wants."""
    ig.require(n <= 8)
    for i in range(n):
        y[8 * ig.gid() + i] = i


@ig.kernel(grid=N, block=4)
def own_run_from_below(n: i32, x: In[i32, N], y: InOut[i32, W]) -> None:  # safe
    ig.require(n <= 4)
    for i in range(-4, n):
        y[32 * ig.group_id() + 8 * ig.lid() + 4 + i] = i


@ig.kernel(grid=N, block=4)
def own_run_too_long(n: i32, x: In[i32, N], y: InOut[i32, W]) -> None:  # unsafe
    ig.require(n <= 3)
    for i in range(n):
        y[8 * ig.group_id() + 2 * ig.lid() + i] = i


@ig.kernel(grid=N, block=4)
def own_run_overlapping_groups(x: In[i32, N], y: InOut[i32, W]) -> None:  # unsafe
    """Nine places for groups eight apart."""
    at = 8 * ig.group_id() + 2 * ig.lid()
    y[at] = 1
    y[at + 2] = 2


@ig.kernel(grid=N, block=4)
def own_pair_downwards(x: In[i32, N], y: InOut[i32, W]) -> None:  # safe
    at = W - 1 - 8 * ig.group_id() - 2 * ig.lid()
    if at >= 1:
        y[at] = 1
        y[at - 1] = y[at] + 1


@ig.kernel(grid=N, block=4)
def own_pair_and_one_more(x: In[i32, N], y: InOut[i32, W]) -> None:  # unsafe
    """The offset differs from access to access, and with it what is common."""
    y[8 * ig.group_id() + 2 * ig.lid()] = 1
    y[8 * ig.group_id() + 2 * ig.lid() + N % 2 * 2] = 2
