"""Indices from data, preconditions used wrongly, reads in conditions, rows and triangles."""

# Written to mislead a proof, not to please.
# ruff: noqa: B007, RET504, SIM102

import isogrid as ig
from isogrid import In, InOut, i32
from isogrid.dims import H, M, N, W


@ig.kernel(groups=1, block=8)
def own_counter_index(y: InOut[i32, N], n: i32) -> None:  # safe
    i = ig.lid()
    k = 0
    for k in range(i, i + 1):
        pass
    if k < N:
        y[k] = 1


@ig.kernel(groups=1, block=8)
def helper_local_names(y: InOut[i32, N], n: i32) -> None:  # unsafe
    i = ig.lid()
    k = shift(i, n)
    j = shift(i, n + 1)
    if k >= 0 and k < N and j >= 0 and j < N:
        y[k] = 1
        y[j] = 2


@ig.func
def shift(i, n):
    k = i + n
    return k


@ig.kernel(groups=1, block=8)
def helper_modifies_param(y: InOut[i32, N], n: i32) -> None:  # safe
    i = ig.lid()
    j = bump(i)
    if i < N:
        y[i] = i32(j)


@ig.func
def bump(i):
    i += 1
    return i


@ig.kernel(groups=1, block=8)
def cond_expr_load(y: InOut[i32, N], x: In[i32, M]) -> None:  # unsafe
    i = ig.lid()
    j = x[i] if i < M else i
    if j >= 0 and j < N:
        y[j] = 1


@ig.kernel(groups=1, block=8)
def shortcut_and_race(y: InOut[i32, N], x: In[i32, M]) -> None:  # unsafe
    i = ig.lid()
    if i + 1 < N and y[i + 1] > 0:
        y[i] = 1


@ig.kernel(groups=1, block=8)
def shortcut_or_race(y: InOut[i32, N], x: In[i32, M]) -> None:  # unsafe
    i = ig.lid()
    if i >= N or y[(i + 1) % N] > 0:
        return
    y[i] = 1


@ig.kernel(groups=1, block=8)
def store_value_race(y: InOut[i32, N]) -> None:  # unsafe
    i = ig.lid()
    if i < N:
        y[i] = y[N - 1 - i]


@ig.kernel(groups=1, block=8)
def index_load_race(p: InOut[i32, N], y: InOut[i32, M]) -> None:  # unsafe
    i = ig.lid()
    if i < N:
        p[i] = 0
        if i > 0 and p[i - 1] >= 0 and i < M:
            y[i] = 1


@ig.kernel(groups=1, block=8)
def row_copy(y: InOut[i32, H, W]) -> None:  # unsafe
    i = ig.lid()
    if i < H:
        for j in range(W):
            y[i, j] = y[H - 1 - i, j]


@ig.kernel(groups=1, block=8)
def diag(y: InOut[i32, N, N]) -> None:  # unsafe
    i = ig.lid()
    for j in range(N):
        if i < N and i != j:
            y[i, j] = y[j, i]


@ig.kernel(groups=1, block=8)
def triangle(y: InOut[i32, N, N]) -> None:  # safe
    i = ig.lid()
    for j in range(N):
        if i < N and i < j:
            y[i, j] = y[j, i]


@ig.kernel(groups=1, block=8)
def triangle_eq(y: InOut[i32, N, N]) -> None:  # safe
    i = ig.lid()
    for j in range(N):
        if i < N and i <= j:
            y[i, j] = y[j, i]


@ig.kernel(groups=1, block=8)
def triangle_bad(y: InOut[i32, N, N]) -> None:  # unsafe
    i = ig.lid()
    for j in range(N):
        if i < N and i <= j + 1:
            y[i, j] = y[j, i]


@ig.kernel(groups=1, block=4)
def halving_sizes(y: InOut[i32, N], n: i32) -> None:  # safe
    i = ig.lid()
    s = ig.shared(i32, 64)
    m = n
    while m > 1:
        if i < m // 2 and i + (m + 1) // 2 < 64:
            s[i] += s[i + (m + 1) // 2]
        ig.barrier()
        m = (m + 1) // 2


@ig.kernel(groups=1, block=4)
def halving_sizes_bad(y: InOut[i32, N], n: i32) -> None:  # unsafe
    i = ig.lid()
    s = ig.shared(i32, 64)
    m = n
    while m > 1:
        if i < (m + 1) // 2 and i + m // 2 < 64:
            s[i] += s[i + m // 2]
        ig.barrier()
        m = m // 2


@ig.kernel(grid=N, block=8)
def seg_overlap(start: In[i32, M], y: InOut[i32, N]) -> None:  # unsafe
    ig.require(ig.is_sorted(start))
    r = ig.gid()
    if r + 1 < M:
        for j in range(start[r], start[r + 1]):
            if j >= 0 and j + 1 < N:
                y[j + 1] = y[j] + 1


@ig.kernel(grid=N, block=8)
def seg_two_apart(start: In[i32, M], y: InOut[i32, N]) -> None:  # unsafe
    ig.require(ig.is_sorted(start))
    r = ig.gid()
    if r + 2 < M:
        for j in range(start[r], start[r + 2]):
            if j >= 0 and j < N:
                y[j] = 1


@ig.kernel(grid=N, block=8)
def seg_by_half(start: In[i32, M], y: InOut[i32, N]) -> None:  # unsafe
    ig.require(ig.is_sorted(start))
    r = ig.gid() // 2
    if r + 1 < M:
        for j in range(start[r], start[r + 1]):
            if j >= 0 and j < N:
                y[j] = 1


@ig.kernel(grid=N, block=8)
def distinct_by_half(p: In[i32, M], y: InOut[i32, N]) -> None:  # unsafe
    ig.require(ig.distinct(p))
    r = ig.gid() // 2
    if r < M and p[r] >= 0 and p[r] < N:
        y[p[r]] = 1


@ig.kernel(grid=N, block=8)
def distinct_negated(p: In[i32, M], y: InOut[i32, N]) -> None:  # not proved
    ig.require(ig.distinct(p))
    r = ig.gid()
    if r < M:
        j = abs(p[r])
        if j < N:
            y[j] = 1


@ig.kernel(grid=N, block=8)
def distinct_two_arrays(p: In[i32, M], q: In[i32, M], y: InOut[i32, N]) -> None:  # unsafe
    ig.require(ig.distinct(p))
    ig.require(ig.distinct(q))
    r = ig.gid()
    if r < M:
        j = p[r] if r % 2 == 0 else q[r]
        if j >= 0 and j < N:
            y[j] = 1


@ig.kernel(grid=N, block=8)
def distinct_two_stores(p: In[i32, M], q: In[i32, M], y: InOut[i32, N]) -> None:  # unsafe
    ig.require(ig.distinct(p))
    ig.require(ig.distinct(q))
    r = ig.gid()
    if r < M:
        if r % 2 == 0:
            if p[r] >= 0 and p[r] < N:
                y[p[r]] = 1
        else:
            if q[r] >= 0 and q[r] < N:
                y[q[r]] = 1


@ig.kernel(grid=N, block=8)
def flag_other_index(p: In[i32, M], keep: In[bool, M], y: InOut[i32, N]) -> None:  # not proved
    ig.require(ig.distinct(p, where=keep))
    r = ig.gid()
    if r + 1 < M and keep[r + 1]:
        if p[r] >= 0 and p[r] < N:
            y[p[r]] = 1


@ig.kernel(grid=N, block=8)
def flag_negated(p: In[i32, M], keep: In[bool, M], y: InOut[i32, N]) -> None:  # not proved
    ig.require(ig.distinct(p, where=keep))
    r = ig.gid()
    if r < M and not keep[r]:
        if p[r] >= 0 and p[r] < N:
            y[p[r]] = 1
