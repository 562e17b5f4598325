"""Chunks of five begin four apart."""

import isogrid as ig
from isogrid import In, InOut, i32
from isogrid.dims import K, N


@ig.kernel(grid=K, block=4)
def chunks(k: In[i32, K], y: InOut[i32, N]) -> None:
    for j in range(5):
        i = 4 * ig.gid() + j
        if i < N:
            y[i] = j  # refuse: IG201
