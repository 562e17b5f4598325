"""The place of a thread, aliases and flags: what looks alike and is not."""

# Written to mislead a proof, not to please.
# ruff: noqa: B007

import isogrid as ig
from isogrid import In, InOut, Out, i32
from isogrid.dims import K, M, N


@ig.kernel(groups=lambda g: g, block=4)
def distinct_plus_lid(g: i32, p: In[i32, M], y: Out[i32, K]) -> None:  # unsafe
    ig.require(ig.distinct(p))
    i = ig.gid()
    if i < M:
        y[p[i] + ig.lid()] = 1


@ig.kernel(groups=1, block=4)
def distinct_minus_lid(p: In[i32, M], y: Out[i32, K]) -> None:  # unsafe
    ig.require(ig.distinct(p))
    i = ig.lid()
    if i < M:
        y[p[i] - i] = 1


@ig.kernel(groups=1, block=4)
def quotient_and_lid(d: i32, y: Out[i32, M, K]) -> None:  # unsafe
    ig.require(d > 0)
    i = ig.gid()
    y[i // d + (4 - ig.lid()) // 2, i % d] = 1


@ig.kernel(groups=lambda g: g, block=4)
def xor_and_lid(g: i32, p: In[i32, M], c: i32, y: Out[i32, K]) -> None:  # unsafe
    ig.require(ig.distinct(p))
    i = ig.gid()
    if i < M:
        y[(p[i] ^ c) + ig.lid()] = 1


@ig.kernel(groups=1, block=4)
def xor_and_lid2(c: i32, y: Out[i32, K]) -> None:  # unsafe
    i = ig.lid()
    y[(i ^ ig.i64(c)) + (4 - i)] = 1


@ig.kernel(groups=1, block=4)
def same_helper_array(y: InOut[i32, N]) -> None:  # unsafe
    i = ig.lid()
    twice(y, y, i)


@ig.func
def twice(a, b, i):
    if i + 1 < a.shape[0]:
        a[i] = b[i + 1]


@ig.kernel(grid=(N, M), block=4)
def rows(y: InOut[i32, N, M]) -> None:  # unsafe
    i, j = ig.gids()
    if i + 1 < N:
        twice(y[i], y[i + 1], j)


@ig.kernel(groups=1, block=4)
def cast_neg(y: InOut[i32, N]) -> None:  # unsafe
    i = ig.lid()
    y[ig.i64(ig.w32(i - 2) % 3)] = 1


@ig.kernel(groups=1, block=4)
def mod_neg(y: InOut[i32, N], c: i32) -> None:  # not proved
    i = ig.lid()
    y[(i - c) % 4] = 1  # safe: permutation


@ig.kernel(groups=1, block=4)
def mod_neg2(y: InOut[i32, N], c: i32) -> None:  # unsafe
    i = ig.lid()
    y[(i * 3 - c) % 6] = 1  # unsafe


@ig.kernel(groups=1, block=8)
def select_pair(y: InOut[i32, N], c: i32) -> None:  # unsafe
    i = ig.lid()
    j = i if i < c else i - 1
    y[j] = 1


@ig.kernel(groups=1, block=8)
def flag_shift(y: InOut[i32, N], x: In[i32, N]) -> None:  # unsafe
    i = ig.lid()
    if i < N:
        if x[i] > 0:
            y[i] = 1
        else:
            if i > 0:
                y[i - 1] = 2


@ig.kernel(groups=1, block=8)
def cond_loop(y: InOut[i32, N], n: i32) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for t in range(n):
        if t % 2 == 0:
            s[i] = t
        else:
            if i < N:
                y[i] = s[7 - i]


@ig.kernel(groups=1, block=8)
def cond_loop_b(y: InOut[i32, N], n: i32) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for t in range(n):
        if t % 2 == 0:
            s[i] = ig.i32(t)
        else:
            if i < N:
                y[i] = s[7 - i]
        if t % 3 == 0:
            ig.barrier()


@ig.kernel(groups=1, block=8)
def load_cond(y: InOut[i32, N], n: i32) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for t in range(n):
        if s[0] == 0:
            s[i] = 1
        ig.barrier()


@ig.kernel(groups=1, block=8)
def uniform_flag(y: InOut[i32, N], x: In[i32, M], n: i32) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    f = 0
    for t in range(n):
        if f == 0:
            s[i] = 1
        else:
            if i < N:
                y[i] = s[7 - i]
        if t < M:
            f = x[t]


@ig.kernel(groups=1, block=8)
def uniform_flag2(y: InOut[i32, N], x: In[i32, M], n: i32) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    f = 0
    for t in range(n):
        if f == 0:
            s[i] = 1
        else:
            if i < N:
                y[i] = s[7 - i]
        if t < M:
            f = x[t]
            if f == 2:
                ig.barrier()
