import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(grid=N)
async def k(x: InOut[f32, N]) -> None:
    x[ig.gid()] = 0.0
