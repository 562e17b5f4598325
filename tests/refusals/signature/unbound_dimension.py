import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import M, N


@ig.kernel(grid=(M, N))
def k(x: InOut[f32, N]) -> None:
    x[ig.gid(1)] = 0.0
