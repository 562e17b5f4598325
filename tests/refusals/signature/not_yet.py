import isogrid as ig
from isogrid import InOut, f16
from isogrid.dims import N


@ig.kernel(grid=N, races="check", deterministic=False)
def k(x: InOut[f16, N]) -> None:
    x[ig.gid()] = 0.0
