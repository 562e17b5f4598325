import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(grid=N, block=(16, 16))
def k(x: InOut[f32, N]) -> None:
    x[ig.gid()] = 0.0
