import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(grid=N)
def k(n: N, y: InOut[f32, N]) -> None:
    y[ig.gid()] = 0.0
