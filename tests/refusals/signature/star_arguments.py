import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(grid=N)
def k(x: InOut[f32, N], *rest: f32, **options: f32) -> None:
    x[ig.gid()] = 0.0
