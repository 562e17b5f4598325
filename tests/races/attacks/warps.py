"""Warps that pass a barrier of theirs, beside warps that never come to it."""

from typing import Literal

import isogrid as ig
from isogrid import Out, i32


@ig.func
def all_but_the_first(warp):
    if warp == 0:
        return 1
    ig.warp_barrier()
    return 2


@ig.kernel(groups=1, block=8, warp=4)
def trips_by_warp(y: Out[i32, Literal[8]]) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = i
    for _ in range(ig.warp_id()):
        ig.warp_barrier()
    y[i] = s[i ^ 1]


@ig.kernel(groups=1, block=8, warp=4)
def trips_by_warp_and_one(y: Out[i32, Literal[8]]) -> None:  # safe
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = i
    for _ in range(ig.warp_id() + 1):
        ig.warp_barrier()
    y[i] = s[i ^ 1]


@ig.kernel(groups=1, block=8, warp=4)
def trips_by_quotient(y: Out[i32, Literal[8]]) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = i
    for _ in range(i // 4):
        ig.warp_barrier()
    y[i] = s[i ^ 1]


@ig.kernel(groups=1, block=8, warp=4)
def trips_of_the_other_warp(y: Out[i32, Literal[8]]) -> None:  # not proved
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = i
    for _ in range(ig.warp_id()):
        ig.warp_barrier()
    if i >= 4:
        y[i] = s[i ^ 1]


@ig.kernel(groups=1, block=8, warp=4)
def trips_counted_down(y: Out[i32, Literal[8]]) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = i
    left = ig.warp_id()
    while left > 0:
        ig.warp_barrier()
        left -= 1
    y[i] = s[i ^ 1]


@ig.kernel(groups=1, block=8, warp=4)
def broken_off_by_warp(y: Out[i32, Literal[8]]) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = i
    for k in range(2):
        if ig.warp_id() == k:
            break
        ig.warp_barrier()
    y[i] = s[i ^ 1]


@ig.kernel(groups=1, block=8, warp=4)
def continued_by_warp(y: Out[i32, Literal[8]]) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = i
    for _ in range(2):
        if ig.warp_id() == 0:
            continue
        ig.warp_barrier()
    y[i] = s[i ^ 1]


@ig.kernel(groups=1, block=8, warp=4)
def returned_by_warp(y: Out[i32, Literal[8]]) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = i
    all_but_the_first(ig.warp_id())
    y[i] = s[i ^ 1]
