import isogrid as ig
from isogrid import InOut, Out, i32, w32
from isogrid.dims import N


@ig.kernel(groups=1, block=48)
def part(y: Out[w32, N]) -> None:
    y[ig.lid()] = ig.ballot(ig.lid() > 7)  # refuse: IG304


@ig.kernel(groups=1, block=50)
def odd(y: Out[i32, N]) -> None:
    y[ig.lid()] = i32(ig.lane_id())  # refuse: IG304
