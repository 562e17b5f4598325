import isogrid as ig
from isogrid import InOut, i32, u32
from isogrid.dims import N


@ig.kernel(grid=N)
def converted(y: InOut[u32, N]) -> None:
    minus = i32(-1)
    y[ig.gid()] = u32(minus)  # refuse: IG406
