import isogrid as ig
from isogrid import InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def stored(y: InOut[i32, N]) -> None:
    y[ig.gid()] = ig.gid() + 5000000000  # refuse: IG407
