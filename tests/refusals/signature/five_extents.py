import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(grid=N)
def k(x: InOut[f32, N, N, N, N, N]) -> None:
    x[0, 0, 0, 0, ig.gid()] = 0.0
