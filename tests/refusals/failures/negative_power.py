import isogrid as ig
from isogrid import InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def negative_power(y: InOut[i32, N]) -> None:
    exponent = i32(-1)
    y[ig.gid()] = y[ig.gid()] ** exponent  # refuse: IG405
