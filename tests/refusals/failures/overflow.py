import isogrid as ig
from isogrid import InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def overflowing(y: InOut[i32, N]) -> None:
    big = i32(2147483647)
    y[ig.gid()] = big + 1  # refuse: IG402
