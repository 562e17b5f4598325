import isogrid as ig
from isogrid import InOut, Out, i32, w32
from isogrid.dims import N


@ig.kernel(groups=1, block=64)
def summed_by_some(y: InOut[i32, N]) -> None:
    t = ig.lid()
    if ig.lane_id() < 16:
        y[t] = ig.warp_sum(y[t])  # refuse: IG301
    if ig.warp_id() == 0:
        y[t] = ig.warp_sum(y[t])
