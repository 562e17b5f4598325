import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(groups=1, block=256)
def under_condition(y: InOut[f32, N]) -> None:
    if ig.lid() < 32:
        ig.barrier()  # refuse: IG301
