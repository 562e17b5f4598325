import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(groups=1, block=256)
def barrier_in_both_arms(y: InOut[f32, N]) -> None:
    if ig.lid() % 2 == 0:
        ig.barrier()  # refuse: IG301
    else:
        ig.barrier()  # refuse: IG301
