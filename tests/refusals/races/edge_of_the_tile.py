"""The left halo is loaded by the first thread, and by the last one of the tile before it."""

import isogrid as ig
from isogrid import In, Out, f32
from isogrid.dims import N


@ig.kernel(grid=N, block=8)
def blur(x: In[f32, N], y: Out[f32, N]) -> None:
    tile = ig.shared(f32, 9)
    i, g = ig.lid(), ig.gid()
    if g < N:
        tile[i + 1] = x[g]
    if g > 0 and g <= N and i < 2:
        tile[i] = x[g - 1]  # refuse: IG201
    ig.barrier()
    if g < N:
        y[g] = tile[i + 1] - tile[i]
