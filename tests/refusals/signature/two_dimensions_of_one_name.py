import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


Rows = N


class N(ig.Dim):
    pass


@ig.kernel(grid=N)
def k(x: InOut[f32, N], y: InOut[f32, Rows]) -> None:
    x[ig.gid()] = 0.0
