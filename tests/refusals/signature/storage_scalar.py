import isogrid as ig
from isogrid import InOut, i16, u8
from isogrid.dims import N


@ig.kernel(grid=N)
def k(a: u8, b: i16, x: InOut[u8, N]) -> None:
    x[ig.gid()] = a
