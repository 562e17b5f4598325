import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(grid=(N, N), block=(64, 64))
def k(x: InOut[f32, N, N]) -> None:
    x[ig.gids()] = 0.0
