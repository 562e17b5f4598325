import isogrid as ig
from isogrid import InOut, Out, i32, w32
from isogrid.dims import N


@ig.kernel(groups=1, block=8, warp=4)
def voted(y: InOut[i32, N]) -> None:
    t = ig.lid()
    if ig.warp_any(y[t] > 0):
        ig.barrier()  # refuse: IG301
        y[t] = 0
