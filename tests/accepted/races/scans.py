"""Places that a scan of the group gives: compaction, a radix pass, runs of different length."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, Out, i32, u8, u64
from isogrid.dims import M


class G(ig.Dim):
    """Number of groups."""


class G8(ig.Dim, equals=G * 8):
    """Elements of G groups of 8."""


@ig.kernel(groups=G, block=8)
def kept_in_front(g: In[i32, G], x: In[i32, G8], y: Out[i32, G8], count: Out[i32, G]) -> None:
    """Each group moves what it keeps to its front."""
    s = ig.shared(i32, 8)
    i, t = ig.gid(), ig.lid()
    v = x[i]
    before = ig.group_scan(i32(v > 0), exclusive=True)
    kept = ig.group_sum(i32(v > 0))
    if v > 0:
        s[before] = v
    ig.barrier()
    y[i] = s[t] if t < kept else 0
    if t == 0:
        count[ig.group_id()] = kept


@ig.kernel(groups=1, block=8)
def kept_then_the_others(x: InOut[i32, Literal[8]]) -> None:
    """A stable partition, by a scan that includes the thread itself."""
    t = ig.lid()
    v = x[t]
    upto = ig.group_scan(i32(v % 2 == 0))
    kept = ig.group_sum(i32(v % 2 == 0))
    if v % 2 == 0:
        x[upto - 1] = v
    else:
        x[kept + t - upto] = v


@ig.kernel(groups=1, block=8)
def radix_pass(bit: i32, x: InOut[i32, Literal[8]]) -> None:
    ig.require(bit >= 0 and bit < 31)
    t = ig.lid()
    v = x[t]
    b = (v >> bit) & 1
    before = ig.group_scan(1 - b, exclusive=True)
    zeros = ig.group_sum(1 - b)
    x[before if b == 0 else t - before + zeros] = v


@ig.kernel(groups=1, block=8)
def radix_sort(bits: i32, x: InOut[i32, Literal[8]]) -> None:
    ig.require(bits >= 0 and bits < 31)
    s = ig.shared(i32, 8)
    t = ig.lid()
    s[t] = x[t]
    for bit in range(bits):
        ig.barrier()
        v = s[t]
        b = (v >> bit) & 1
        ones = ig.group_scan(b, exclusive=True)
        zeros = ig.group_sum(1 - b)
        s[zeros + ones if b == 1 else t - ones] = v
    ig.barrier()
    x[t] = s[t]


@ig.kernel(groups=1, block=8)
def kept_in_rounds(rounds: i32, x: InOut[i32, Literal[8]]) -> None:
    s = ig.shared(i32, 8)
    t = ig.lid()
    v = x[t]
    for round in range(rounds):
        keep = v > round
        before = ig.group_scan(i32(keep), exclusive=True)
        if keep:
            s[before] = v
        ig.barrier()
        v = s[t]
    x[t] = v


@ig.kernel(groups=1, block=8)
def runs(n: In[u8, Literal[8]], y: InOut[i32, M]) -> None:
    """Each thread repeats its number n times, behind those of the threads before it."""
    t = ig.lid()
    start = ig.group_scan(i32(n[t]), exclusive=True)
    for k in range(start, start + n[t]):
        y[k] = t


@ig.kernel(groups=G, block=8)
def far_beyond_counts(x: In[u64, G8], y: Out[u64, G8], last: Out[u64, G]) -> None:
    """Sums whose values fill their type say nothing of places, and stand in no proof's way."""
    i = ig.gid()
    upto = ig.group_scan((x[i] % (1 << 60)) << 3, exclusive=True)
    y[i] = ig.group_scan(upto // 2)
    if ig.lid() == 7:
        last[ig.group_id()] = upto
