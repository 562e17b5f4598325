import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(groups=1, block=256)
def uneven_trips(y: InOut[f32, N]) -> None:
    for k in range(ig.lid()):
        ig.barrier()  # refuse: IG303
