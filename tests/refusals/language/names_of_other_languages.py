import math

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32
from isogrid.dims import H, N, W


@ig.kernel(grid=N)
def names_of_cuda(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.threadIdx.x + ig.blockIdx.x * ig.blockDim.x  # refuse: IG105, IG105, IG105
    ig.syncthreads()  # refuse: IG105
    t = tid()  # refuse: IG105
    s = ig.shared((64,), f32)  # refuse: IG130
    y[0] = ig.sqrt(ig.max(x[0], 1.0))  # refuse: IG105, IG105
    v = float("-inf")  # refuse: IG148
    w = f32("nan")  # refuse: IG157
    y[1] = x[1] if x[0] > 0.0 else None  # refuse: IG154


@ig.kernel(grid=(H, W))
def elements_by_address(at: In[i32, N], bins: InOut[i32, N], table: InOut[i32, H, W]) -> None:
    row, column, depth = ig.gids()  # refuse: IG137
    i = ig.gid(1)
    ig.atomic_add(bins[at[i]], 1)  # refuse: IG129
    ig.atomic_max(table[i, i], at[i])  # refuse: IG129
    ig.atomic_add(bins, 1)  # refuse: IG129
    bins[0] = 1 << 40  # refuse: IG111
    bins[1] = at.shape[2]  # refuse: IG122


class cuda:
    """As Numba's module has them."""

    class threadIdx:
        x = property(lambda self: 0)


@ig.kernel(grid=N)
def names_of_numba(y: Out[i32, N]) -> None:
    y[ig.gid()] = cuda.threadIdx.x + 1  # refuse: IG157
