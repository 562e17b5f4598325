"""Partners by `i ^ stride`: both of a pair exchange, a thread has two partners, or strides of its own."""

import isogrid as ig
from isogrid import In, InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def both_of_a_pair(x: InOut[i32, N], stride: i32) -> None:
    i = ig.gid()
    partner = i ^ stride
    if partner < N:
        x[partner] = x[i]  # refuse: IG201


@ig.kernel(grid=N)
def two_strides(x: InOut[i32, N], stride: i32, other: i32) -> None:
    i = ig.gid()
    first, second = i ^ stride, i ^ other
    if i < first < N and i < second < N:
        x[first] = x[second]  # refuse: IG202


@ig.kernel(grid=N)
def own_strides(x: InOut[i32, N], strides: In[i32, N]) -> None:
    i = ig.gid()
    partner = i ^ strides[i]
    if i < partner < N:
        x[i] = x[partner]  # refuse: IG201
