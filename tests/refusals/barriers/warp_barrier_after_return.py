import isogrid as ig
from isogrid import InOut, Out, i32, w32
from isogrid.dims import N


@ig.kernel(groups=1, block=64)
def returned(y: InOut[i32, N]) -> None:
    t = ig.lid()
    if y[t] > 7:
        return
    ig.warp_barrier()  # refuse: IG302
    y[t] = 1
