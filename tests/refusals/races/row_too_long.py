"""Each thread writes one element beyond its row."""

import isogrid as ig
from isogrid import In, InOut, i32
from isogrid.dims import H, N


@ig.kernel(grid=H, block=4)
def rows(w: i32, k: In[i32, H], y: InOut[i32, N]) -> None:
    i = ig.gid()
    for x in range(w + 1):
        j = i * w + x
        if j < N:
            y[j] = x  # refuse: IG201
