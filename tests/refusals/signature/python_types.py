import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(grid=N)
def k(a: float, n: int, x: InOut[float, N]) -> None:
    x[ig.gid()] = a
