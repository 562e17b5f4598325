"""A loop over all elements in every thread."""

import isogrid as ig
from isogrid import In, Out, f32
from isogrid.dims import H, N, W


@ig.kernel(grid=N)
def scale(x: In[f32, N], y: Out[f32, N]) -> None:
    for i in range(N):
        y[i] = 2 * x[i]  # refuse: IG201


@ig.kernel(grid=(H, W))
def scale_rows(x: In[f32, H, W], y: Out[f32, H, W]) -> None:
    for i in range(H):
        for j in range(W):
            y[i, j] = 2 * x[i, j]  # refuse: IG201
