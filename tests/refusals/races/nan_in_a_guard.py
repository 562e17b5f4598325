"""`not (v < 0)` holds for NaN: both guards may let a thread through."""

import isogrid as ig
from isogrid import Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=8)
def guards(v: f32, y: Out[i32, N]) -> None:
    i = ig.gid()
    if not v < 0.0:
        y[i] = 1
    if not v >= 0.0:
        y[N - 1 - i] = 2  # refuse: IG202
