import isogrid as ig
from isogrid import InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def wide_shift(y: InOut[i32, N]) -> None:
    amount = 32
    y[ig.gid()] = y[ig.gid()] >> amount  # refuse: IG404
