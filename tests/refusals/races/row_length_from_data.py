"""Rows that start at `i * w` with a `w` of their own may overlap."""

import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import H, M


@ig.kernel(grid=H)
def pack(width: In[i32, H], y: Out[f32, M]) -> None:
    i = ig.gid()
    for j in range(width[i]):
        y[i * width[i] + j] = 1.0  # refuse: IG202
