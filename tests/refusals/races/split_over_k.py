"""Groups that share a product each add their part to the same element."""

import isogrid as ig
from isogrid import In, InOut, f32
from isogrid.dims import K, M, N


@ig.kernel(grid=(M, N, K))
def matmul(a: In[f32, M, K], b: In[f32, K, N], c: InOut[f32, M, N]) -> None:
    i, j, k = ig.gids()
    c[i, j] += a[i, k] * b[k, j]  # refuse: IG201
