import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(grid=N)
def k(x: InOut[f32, N]) -> f32:
    return x[0]
