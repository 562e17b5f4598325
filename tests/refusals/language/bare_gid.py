import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import M, N


@ig.kernel(grid=(N, M))
def bare_gid(x: InOut[f32, N, M]) -> None:
    i = ig.gid()  # refuse: IG142
    ig.barrier()
