import isogrid as ig
from isogrid import InOut, f32, f64
from isogrid.dims import N


@ig.kernel(grid=N)
def k(x: InOut[f32, N] | InOut[f64, N]) -> None:
    x[ig.gid()] = 0.0
