"""Places from scans that are no places: counted too little, by others, of something that may be negative, or mixed."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, i32, u8
from isogrid.dims import N


@ig.kernel(groups=1, block=8)
def all_write(x: InOut[i32, Literal[8]]) -> None:  # unsafe
    t = ig.lid()
    v = x[t]
    before = ig.group_scan(i32(v > 0), exclusive=True)
    x[before] = v


@ig.kernel(groups=1, block=8)
def others_write(x: InOut[i32, Literal[8]]) -> None:  # unsafe
    t = ig.lid()
    v = x[t]
    before = ig.group_scan(i32(v > 0), exclusive=True)
    if not v > 0:
        x[before] = v


@ig.kernel(groups=1, block=8)
def more_write_than_count(x: InOut[i32, Literal[8]]) -> None:  # unsafe
    t = ig.lid()
    v = x[t]
    before = ig.group_scan(i32(v > 1), exclusive=True)
    if v > 0:
        x[before] = v


@ig.kernel(groups=1, block=8)
def one_of_two_flags(x: InOut[i32, Literal[8]], y: In[i32, Literal[8]]) -> None:  # unsafe
    t = ig.lid()
    v = x[t]
    before = ig.group_scan(i32(v > 0 and y[t] > 0), exclusive=True)
    if v > 0:
        x[before] = v


@ig.kernel(groups=1, block=8)
def two_flags(x: InOut[i32, Literal[8]], y: In[i32, Literal[8]]) -> None:  # safe
    t = ig.lid()
    v = x[t]
    before = ig.group_scan(i32(v > 0 and y[t] > 0), exclusive=True)
    if v > 0 and y[t] > 0:
        x[before] = v


@ig.kernel(groups=1, block=8)
def values_that_may_be_negative(x: InOut[i32, Literal[8]], y: In[i32, Literal[8]]) -> None:  # unsafe
    t = ig.lid()
    place = ig.group_scan(y[t])
    if y[t] > 0 and 0 <= place < 8:
        x[place] = t


@ig.kernel(groups=1, block=8)
def others_from_the_end(x: InOut[i32, Literal[8]]) -> None:  # unsafe
    t = ig.lid()
    v = x[t]
    before = ig.group_scan(i32(v > 0), exclusive=True)
    if v > 0:
        x[before] = v
    else:
        x[t - before] = v


@ig.kernel(groups=1, block=8)
def others_one_too_low(x: InOut[i32, Literal[8]]) -> None:  # unsafe
    t = ig.lid()
    v = x[t]
    before = ig.group_scan(i32(v > 0), exclusive=True)
    kept = ig.group_sum(i32(v > 0))
    if v > 0:
        x[before] = v
    elif kept + t - before >= 1:
        x[kept + t - before - 1] = v


@ig.kernel(groups=1, block=8)
def total_of_others(x: InOut[i32, Literal[8]], y: In[i32, Literal[8]]) -> None:  # unsafe
    t = ig.lid()
    v = x[t]
    before = ig.group_scan(i32(v > 0), exclusive=True)
    kept = ig.group_sum(i32(y[t] > 0))
    if v > 0:
        x[before] = v
    elif kept + t - before < 8:
        x[kept + t - before] = v


@ig.kernel(groups=1, block=8)
def scans_of_two_rounds(x: InOut[i32, Literal[8]], n: i32) -> None:  # unsafe
    """A place of the last round beside one of this round."""
    t = ig.lid()
    s = ig.shared(i32, 16)
    place = 0
    for k in range(n):
        keep = x[t] > k
        before = ig.group_scan(i32(keep), exclusive=True)
        if keep:
            s[place] = k
        place = before
    ig.barrier()
    x[t] = s[t]


@ig.kernel(groups=1, block=8)
def weights_of_two(x: InOut[i32, Literal[8]], y: InOut[i32, Literal[16]]) -> None:  # unsafe
    """Each kept element has two places; the others are not `lid - before`."""
    t = ig.lid()
    v = x[t]
    before = ig.group_scan(i32(v > 0) * 2, exclusive=True)
    if v > 0:
        y[before] = v
        y[before + 1] = v
    elif t - before >= 0:
        y[t - before] = 1


@ig.kernel(groups=1, block=8)
def doubled_place(x: InOut[i32, Literal[8]], y: InOut[i32, Literal[16]]) -> None:  # safe
    t = ig.lid()
    v = x[t]
    before = ig.group_scan(i32(v > 0), exclusive=True)
    if v > 0:
        y[2 * before] = v
        y[2 * before + 1] = v


@ig.kernel(grid=N, block=8)
def places_of_groups(x: In[i32, N], y: InOut[i32, Literal[8]]) -> None:  # unsafe
    i = ig.gid()
    keep = i < N and x[i if i < N else 0] > 0
    before = ig.group_scan(i32(keep), exclusive=True)
    if keep:
        y[before] = i


@ig.kernel(groups=1, block=8)
def halves_of_a_count(x: InOut[i32, Literal[8]]) -> None:  # unsafe
    t = ig.lid()
    v = x[t]
    before = ig.group_scan(i32(v > 0), exclusive=True)
    if v > 0:
        x[before // 2] = v


@ig.kernel(groups=1, block=8)
def runs_with_one_more(n: In[u8, Literal[8]], y: InOut[i32, N]) -> None:  # unsafe
    t = ig.lid()
    start = ig.group_scan(i32(n[t]), exclusive=True)
    for k in range(start, start + n[t] + 1):
        y[k] = t


@ig.kernel(groups=1, block=8)
def runs_behind_their_end(n: In[u8, Literal[8]], y: InOut[i32, N]) -> None:  # safe
    t = ig.lid()
    end = ig.group_scan(i32(n[t]))
    for k in range(end - n[t], end):
        y[k] = t


@ig.kernel(groups=1, block=8)
def runs_of_what_may_be_negative(n: In[i32, Literal[8]], y: InOut[i32, N]) -> None:  # unsafe
    t = ig.lid()
    start = ig.group_scan(n[t], exclusive=True)
    for k in range(start, start + n[t]):
        if 0 <= k < N:
            y[k] = t


@ig.kernel(groups=1, block=8)
def runs_of_others(n: In[u8, Literal[8]], y: InOut[i32, N]) -> None:  # unsafe
    t = ig.lid()
    start = ig.group_scan(i32(n[t]), exclusive=True)
    for k in range(start, start + n[7 - t]):
        y[k] = t
