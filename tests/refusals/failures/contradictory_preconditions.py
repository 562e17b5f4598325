import isogrid as ig
from isogrid import InOut, i32, i64
from isogrid.dims import N


@ig.kernel(grid=N)
def contradictory(y: InOut[i32, N], n: i64) -> None:
    ig.require(n > 8)
    ig.require(n < N)
    ig.require(N < 4)  # refuse: IG409
    y[ig.gid()] = 1


@ig.kernel(grid=N)
def negative_size(y: InOut[i32, N]) -> None:
    ig.require(N < 0)  # refuse: IG409
    y[ig.gid()] = 1


@ig.kernel(grid=N)
def possible(y: InOut[i32, N], n: i64) -> None:
    ig.require(n > 8)
    ig.require(N >= n)
    ig.require(ig.is_power_of_two(N))
    y[ig.gid()] = 1
