"""Squares meet again under a remainder."""

import isogrid as ig
from isogrid import Out, i32
from isogrid.dims import N


@ig.kernel(groups=1, block=8)
def squares(y: Out[i32, N]) -> None:
    i = ig.gid()
    y[(i * i) % N] = i  # refuse: IG201
