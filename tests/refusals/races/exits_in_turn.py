"""Threads that broke out of the loop do not return from it."""

from typing import Literal

import isogrid as ig
from isogrid import Out, i32


@ig.func
def first(lid, p, q):
    r = 0
    for _ in range(2):
        if p:
            r = 1
            break
        if q:
            return 20 + lid
    return r


@ig.kernel(groups=1, block=8)
def pick(y: Out[i32, Literal[64]]) -> None:
    lid = ig.lid()
    y[first(lid, lid < 4, lid < 9)] = lid  # refuse: IG201
