import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(grid=N)
def k(a: f32 | None, x: InOut[f32, N]) -> None:
    x[ig.gid()] = 0.0
