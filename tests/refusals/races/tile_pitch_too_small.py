"""A flat tile of 4 rows and 4 columns with rows 3 elements apart."""

import isogrid as ig
from isogrid import In, Out, f32
from isogrid.dims import H, W


@ig.kernel(grid=(H, W), block=(4, 4))
def transpose(x: In[f32, H, W], y: Out[f32, W, H]) -> None:
    tile = ig.shared(f32, 16)
    r, c = ig.lids()
    i, j = ig.gids()
    if i < H and j < W:
        tile[r * 3 + c] = x[i, j]  # refuse: IG201
    ig.barrier()
    if i < H and j < W:
        y[j, i] = tile[r * 4 + c]
