import isogrid as ig
from isogrid import Out, u32
from isogrid.dims import N


@ig.kernel(grid=N)
def unsigned_below_zero(y: Out[u32, N]) -> None:
    first = u32(0)
    y[ig.gid()] = first - 1  # refuse: IG402
