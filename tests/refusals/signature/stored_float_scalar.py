import isogrid as ig
from isogrid import InOut, bf16, f16
from isogrid.dims import N


@ig.kernel(grid=N)
def k(a: f16, b: bf16, x: InOut[f16, N]) -> None:
    x[ig.gid()] = 0.0
