"""Accepted because of preconditions on arrays, or because equal parts of a number make an equal number."""

import isogrid as ig
from isogrid import In, InOut, Out, i32
from isogrid.dims import H, K, M, N


class Ends(ig.Dim, equals=H + 1):
    """One more than the rows."""


@ig.kernel(grid=N, block=8)
def scatter(p: In[i32, N], x: In[i32, N], y: InOut[i32, M]) -> None:
    ig.require(ig.distinct(p))
    i = ig.gid()
    if i < N:
        y[p[i]] += x[i]


@ig.kernel(groups=1, block=8)
def scatter_in_a_group(p: In[i32, N], x: In[i32, N], y: InOut[i32, M]) -> None:
    ig.require(ig.distinct(p))
    s = ig.shared(i32, 16)
    i = ig.lid()
    if i < N and p[i] < 16:
        s[p[i]] = x[i]
    ig.barrier()
    if i < M:
        y[i] += s[i]


@ig.kernel(groups=1, block=8)
def flagged(p: In[i32, N], keep: In[bool, N], y: InOut[i32, M]) -> None:
    ig.require(ig.distinct(p, where=keep))
    i = ig.lid()
    ig.barrier()
    if i < N and keep[i]:
        y[p[i] + 1] += 1


@ig.kernel(grid=H)
def segments(start: In[i32, Ends], x: In[i32, H], y: InOut[i32, N]) -> None:
    ig.require(ig.is_sorted(start))
    r = ig.gid()
    for j in range(start[r], start[r + 1]):
        y[j] *= x[r]


@ig.kernel(groups=H, block=4)
def segments_by_groups(start: In[i32, Ends], x: In[i32, H], y: InOut[i32, N]) -> None:
    ig.require(ig.is_sorted(start))
    r = ig.group_id()
    ig.barrier()
    for j in range(start[r] + i32(ig.lid()), start[r + 1], 4):
        y[j] *= x[r]


@ig.kernel(groups=1, block=8)
def quotient_and_remainder(d: i32, y: Out[i32, M, K]) -> None:
    ig.require(d > 0)
    i = ig.lid()
    ig.barrier()
    y[i // d, i % d] = 1


@ig.kernel(groups=1, block=8)
def other_half(c: i32, s: In[i32, N], y: Out[i32, M]) -> None:
    i = ig.lid()
    ig.barrier()
    y[(i ^ ig.i64(c)) + 1] = s[i]
