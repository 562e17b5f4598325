import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(grid=lambda a: a)
def k(a: f32, x: InOut[f32, N]) -> None:
    x[ig.gid()] = a
