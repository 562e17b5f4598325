"""Idioms whose checks are all proved, and near misses that must keep theirs: a proof that accepts those is unsound."""

from typing import Any, Literal

import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, i64, u8, u32, w32
from isogrid.dims import H, K, M, N, W
from tests.analysis.built import kept


@ig.kernel(grid=N)
def own_element(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i]


@ig.kernel(grid=N)
def other_size(x: In[f32, M], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i]


@ig.kernel(grid=N)
def neighbour_guarded(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    if i > 0 and i < len(x) - 1:
        y[i] = x[i - 1] + x[i + 1]


@ig.kernel(grid=N)
def neighbour_off_by_one(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    if i > 0 and i < len(x):
        y[i] = x[i - 1] + x[i + 1]


@ig.kernel(grid=N)
def early_return(x: In[f32, M], y: Out[f32, N]) -> None:
    i = ig.gid()
    if i >= len(x) or i == 0:
        return
    y[i] = x[i - 1]


@ig.kernel(grid=N)
def early_return_wrong(x: In[f32, M], y: Out[f32, N]) -> None:
    i = ig.gid()
    if i >= len(x) and i == 0:
        return
    y[i] = x[i - 1]


@ig.kernel(grid=(H, W))
def flat_index(x: In[f32, H, W], y: Out[f32, H * W]) -> None:
    i, j = ig.gids()
    y[i * x.shape[1] + j] = x[i, j]


@ig.kernel(grid=(H, W))
def flat_index_transposed(x: In[f32, H, W], y: Out[f32, H * W]) -> None:
    i, j = ig.gids()
    y[j * x.shape[1] + i] = x[i, j]


@ig.kernel(grid=N)
def split_index(x: In[f32, H, W], y: Out[f32, N]) -> None:
    ig.require(len(y) == x.size)
    i = ig.gid()
    y[i] = x[i // x.shape[1], i % x.shape[1]]


@ig.kernel(grid=N)
def clamped(x: In[f32, N], y: Out[f32, N], shift: i32) -> None:
    i = ig.gid()
    y[i] = x[ig.clamp(i + shift, 0, len(x) - 1)]


@ig.kernel(grid=N)
def wrapped_modulo(x: In[f32, N], y: Out[f32, N], shift: i64) -> None:
    i = ig.gid()
    y[i] = x[(i + shift) % len(x)]


@ig.kernel(grid=N)
def truncated_modulo(x: In[f32, N], y: Out[f32, N], m: i64) -> None:
    i = ig.gid()
    y[i] = x[i % m]


@ig.kernel(grid=H)
def rows(x: In[f32, H, W], y: Out[f32, H]) -> None:
    i = ig.gid()
    total = 0.0
    for j in range(x.shape[1]):
        total += x[i, j]
    for j in range(x.shape[1] - 1, -1, -1):
        total += x[i, j]
    for j in range(0, x.shape[1] - 3, 4):
        total += x[i, j + 3]
    y[i] = total


@ig.kernel(grid=H)
def rows_one_too_far(x: In[f32, H, W], y: Out[f32, H]) -> None:
    i = ig.gid()
    total = 0.0
    for j in range(x.shape[1] + 1):
        total += x[i, j]
    y[i] = total


@ig.kernel(grid=256)
def grid_stride(x: InOut[f32, N]) -> None:
    for i in range(ig.gid(), len(x), ig.grid_size()):
        x[i] = 2.0 * x[i]


@ig.kernel(groups=ig.cdiv(N, 256), block=256)
def tree(x: In[f32, N], out: Out[f32, K]) -> None:
    ig.require(len(out) == ig.cdiv(len(x), 256))
    acc = ig.shared(f32, 256)
    t = ig.lid()
    i = ig.gid()
    acc[t] = x[i] if i < len(x) else 0.0
    ig.barrier()
    s = 128
    while s > 0:
        if t < s:
            acc[t] = acc[t] + acc[t + s]
        ig.barrier()
        s //= 2
    if t == 0:
        out[ig.group_id()] = acc[0]


@ig.kernel(groups=ig.cdiv(N, 256), block=256)
def tree_too_wide(x: In[f32, N], out: Out[f32, K]) -> None:
    ig.require(len(out) == ig.cdiv(len(x), 256))
    acc = ig.shared(f32, 256)
    t = ig.lid()
    i = ig.gid()
    acc[t] = x[i] if i < len(x) else 0.0
    ig.barrier()
    s = 256
    while s > 0:
        if t < s:
            acc[t] = acc[t] + acc[t + s]
        ig.barrier()
        s >>= 1
    if t == 0:
        out[ig.group_id()] = acc[0]


@ig.kernel(grid=N, block=256)
def histogram(x: In[u8, N], out: InOut[w32, Literal[256]]) -> None:
    bins = ig.shared(i32, 256)
    i = ig.gid()
    if i < len(x):
        ig.atomic_add(bins, x[i], 1)
    ig.barrier()
    ig.atomic_add(out, ig.lid(), w32(bins[ig.lid()]))


@ig.kernel(grid=N, block=256)
def histogram_too_narrow(x: In[u8, N], out: InOut[w32, Literal[256]]) -> None:
    bins = ig.shared(i32, 255)
    i = ig.gid()
    if i < len(x):
        ig.atomic_add(bins, x[i], 1)
    ig.barrier()
    if ig.lid() < 255:
        ig.atomic_add(out, ig.lid(), w32(bins[ig.lid()]))


@ig.kernel(grid=N)
def binary_search(x: In[i32, M], key: In[i32, N], y: Out[i64, N]) -> None:
    i = ig.gid()
    low = 0
    high = len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] < key[i]:
            low = middle + 1
        else:
            high = middle
    y[i] = low


@ig.kernel(grid=N)
def binary_search_wrong(x: In[i32, M], key: In[i32, N], y: Out[i64, N]) -> None:
    i = ig.gid()
    low = 0
    high = len(x)
    while low <= high:
        middle = (low + high) // 2
        if x[middle] < key[i]:
            low = middle + 1
        else:
            high = middle - 1
    y[i] = low


@ig.kernel(grid=N)
def counted(x: In[f32, N, Literal[8]], y: Out[f32, N, Literal[8]]) -> None:
    """A count that grows under a condition stays below the number of trips."""
    i = ig.gid()
    count = 0
    for j in ig.unroll(range(8), 1):
        if x[i, j] > 0.0:
            y[i, count] = x[i, j]
            count += 1


@ig.kernel(grid=N)
def counted_twice(x: In[f32, N, Literal[8]], y: Out[f32, N, Literal[8]]) -> None:
    i = ig.gid()
    count = 0
    for j in ig.unroll(range(8), 1):
        if x[i, j] > 0.0:
            y[i, count] = x[i, j]
            count += 2


@ig.kernel(grid=N)
def limited_trips(y: Out[i32, N], limit: i32) -> None:
    i = ig.gid()
    n = i32(0)
    while n < limit:
        n += 1
    y[i] = n


@ig.kernel(grid=N)
def unlimited_sum(x: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] + 1


@ig.kernel(grid=N)
def bitwise(x: In[u32, N], y: Out[u32, Literal[16]], z: In[i32, Literal[16]]) -> None:
    v = x[ig.gid()]
    y[v & 15] = v
    y[v >> 28] = v
    y[(v & 7) ^ 8] = u32(z[(v & 3) << 2])


@ig.kernel(grid=N)
def bitwise_wrong(x: In[u32, N], y: Out[u32, Literal[16]]) -> None:
    v = x[ig.gid()]
    y[v & 16] = v
    y[v >> 27] = v
    y[(v & 15) ^ 16] = v


@ig.kernel(grid=N)
def any_step(x: InOut[f32, N], step: i64) -> None:
    for i in range(0, len(x), step):
        x[i] = 0.0


@ig.kernel(grid=N)
def after_a_loop(x: In[f32, N], y: Out[f32, N]) -> None:
    """Leaving a loop by `break` says nothing about the counter's bound."""
    i = ig.gid()
    j = 0
    while x[i] > f32(j):
        j += 1
        if j > 10:
            break
    y[j] = x[i]


@ig.kernel(groups=1, block=1)
def trips_told_in_a_branch(flag: bool, x: In[i32, N], z: Out[i32, Literal[9]]) -> None:
    """What a loop under a condition tells of its trips, and so of N, is not known beside it."""
    if flag:
        s = 0
        for _ in range(N):
            if s > 7:
                return
            s += 2 - 1
    z[N] = 1


@ig.kernel(groups=1, block=1)
def one_amount_two_widths(flag: bool, n: i32, y: Out[i32, M], z: Out[i64, M]) -> None:
    """What fits 32 bits in one branch need not fit 64 in the other: n may be 63 there."""
    ig.require(n >= 0 and n <= 63)
    if flag:
        y[0] = i32(1) << n
    else:
        z[0] = i64(1) << n


@ig.kernel(groups=1, block=1)
def sum_of_two_powers(a: i32, b: i32, c: i32, z: Out[i64, Literal[9]]) -> None:
    """1 + 2 divides no power of two: the first multiple above 7 is 9."""
    d = (1 << (a & 1)) + (1 << (b & 1))
    z[d * ((c & 7) // d + 1)] = 1


@ig.kernel(grid=N)
def floats_in_guards(x: In[f32, N], y: InOut[f32, Literal[8]]) -> None:
    """A comparison of floats tells nothing of integers; with NaN both it and its opposite fail."""
    v = x[ig.gid()]
    if not (v < 0.0) and not (v >= 8.0):
        ig.atomic_max(y, i64(v), 1.0)


@ig.kernel(grid=N)
def floors_of_negatives(y: InOut[i32, N], a: i64) -> None:
    """-1 // 4 is -1 and -1 % 4 is 3: only the remainder is in range."""
    ig.require(a >= -8 and a < 8)
    i = ig.gid()
    if i == 0 and N == 4:
        y[a % 4] = 1
        y[a // 4] = 2
        y[(a >> 2) + 2] = 3
        y[(a + 8) // 4] = 4


@ig.kernel(grid=N)
def intermediate_beyond_the_end(x: In[i32, N], y: Out[i32, N], far: i64) -> None:
    """The sum is in range again, but what it is made of is not in the index type."""
    i = ig.gid()
    y[i] = x[i + far - far]


@ig.kernel(groups=1, block=32)
def two_buffers(steps: i32, x: InOut[i32, 32]) -> None:
    both = ig.shared(i32, (2, 32))
    t = ig.lid()
    both[0, t] = x[t]
    ig.barrier()
    now = 0
    for step in range(steps):
        both[1 - now, t] = both[now, 31 - t]
        if step % 3 != 2:
            now = 1 - now
        ig.barrier()
    x[t] = both[now, t]


@ig.kernel(groups=1, block=32)
def two_buffers_from_the_third(steps: i32, x: InOut[i32, 32]) -> None:
    both = ig.shared(i32, (2, 32))
    t = ig.lid()
    now = 2
    for _ in range(steps):
        now = 1 - now
        both[now, t] = 1


@ig.kernel(groups=1, block=32)
def two_buffers_swapped_in_two_ways(steps: i32, x: InOut[i32, 32]) -> None:
    both = ig.shared(i32, (2, 32))
    t = ig.lid()
    now = 0
    for step in range(steps):
        if step % 2 == 0:
            now = 1 - now
        else:
            now = 2 - now
        both[now, t] = 1


@ig.kernel(grid=N // 2)
def one_of_two_phases(x: Out[i32, N], phase: i32) -> None:
    ig.require(phase == 0 or phase == 1)
    i = 2 * ig.gid() + phase
    if i < N:
        x[i] = 1


@ig.kernel(grid=N // 2)
def one_of_two_phases_below(x: Out[i32, N], phase: i32) -> None:
    ig.require(phase == -1 or phase == 1)
    i = 2 * ig.gid() + phase
    if i < N:
        x[i] = 1


@ig.kernel(grid=1)
def neither_of_two(x: Out[i32, 8], k: i32, m: i32) -> None:
    if not (k >= 5 and k >= 3) and k >= 0:
        x[k] = 1
    if not (k >= 5 and m >= 3) and k >= 0:
        x[k] = 2


@ig.kernel(grid=N)
def small_factorisation(a: InOut[f32, N, Literal[4], Literal[4]]) -> None:
    """The outer loop is unrolled, and its last copy has inner loops without a trip."""
    b = ig.gid()
    for k in range(4):
        for i in range(k + 1, 4):
            a[b, i, k] /= a[b, k, k]
            for j in range(k + 1, 4):
                a[b, i, j] -= a[b, i, k] * a[b, k, j]


@ig.kernel(grid=N)
def insertion_sort(x: InOut[f32, N, Literal[16]]) -> None:
    """Unrolled, each inner loop begins at a literal, of which more guesses hold at first."""
    b = ig.gid()
    for i in range(1, 16):
        v = x[b, i]
        j = i - 1
        while j >= 0 and x[b, j] > v:
            x[b, j + 1] = x[b, j]
            j -= 1
        x[b, j + 1] = v


PROVED: list[Any] = [
    own_element, neighbour_guarded, early_return, flat_index, split_index, clamped, wrapped_modulo, rows, grid_stride,
    tree, histogram, binary_search, counted, limited_trips, two_buffers,
    one_of_two_phases, small_factorisation, insertion_sort,
]  # fmt: skip

KEPT: list[tuple[Any, list[str]]] = [
    (other_size, ["x"]),
    (neighbour_off_by_one, ["x"]),
    (early_return_wrong, ["x"]),
    (flat_index_transposed, ["y"]),
    (truncated_modulo, ["mod", "x"]),
    (rows_one_too_far, ["x"]),
    (tree_too_wide, ["acc"]),
    (histogram_too_narrow, ["add bins"]),
    (binary_search_wrong, ["x"]),
    (counted_twice, ["y"]),
    (unlimited_sum, ["add"]),
    (bitwise, ["u32"]),
    (bitwise_wrong, ["y", "y", "y"]),
    (any_step, ["step"]),
    (after_a_loop, ["y"]),
    (trips_told_in_a_branch, ["z"]),
    (one_amount_two_widths, ["shl", "shl", "y", "z"]),
    (sum_of_two_powers, ["z"]),
    (floats_in_guards, ["i64", "max y"]),
    (floors_of_negatives, ["y"]),
    (two_buffers_from_the_third, ["both"]),
    (one_of_two_phases_below, ["x"]),
    (neither_of_two, ["x"]),
    (two_buffers_swapped_in_two_ways, ["both"]),
]


@pytest.mark.parametrize("kernel", PROVED, ids=lambda kernel: kernel.definition.name)
def test_nothing_is_kept(kernel: Any) -> None:
    assert kept(kernel) == []


@pytest.mark.parametrize(("kernel", "checks"), KEPT, ids=[case[0].definition.name for case in KEPT])
def test_what_may_fail_is_kept(kernel: Any, checks: list[str]) -> None:
    assert sorted(kept(kernel)) == sorted(checks)


def test_small_launches_are_assumed_only_where_told() -> None:
    """`i + shift` of an i32 fits i64 always; `w * h` of two scalars only for small ones."""

    @ig.kernel(grid=N)
    def area(y: Out[i64, N], w: i64, h: i64) -> None:
        y[ig.gid()] = w * h

    assert kept(area, small=True) == []
    assert kept(area, small=False) == ["mul"]


def test_intermediates_are_proved_one_by_one() -> None:
    assert kept(intermediate_beyond_the_end, small=True) == []
    assert kept(intermediate_beyond_the_end, small=False) == ["add"]


def test_a_switched_off_pass_keeps_everything() -> None:
    assert kept(own_element, disabled=frozenset({"prove"})) == ["x", "y"]
