import isogrid as ig
from isogrid import InOut, f32, i32, w32
from isogrid.dims import N


@ig.kernel(groups=1, block=32)
def operands(x: InOut[f32, N], flags: InOut[w32, N]) -> None:
    t = ig.lid()
    x[t] = ig.shuffle(x[t], x[t])  # refuse: IG130
    flags[t] = ig.ballot(x[t])  # refuse: IG130
    if ig.warp_any(t):  # refuse: IG130
        x[t] = 0.0
    x[t] = ig.warp_max(x[t] > 0.0)  # refuse: IG130
    x[t] = ig.shuffle_up(x[t])  # refuse: IG129
    flags[t] = w32(ig.lane_id(0))  # refuse: IG129
    n = i32(ig.warp_size()) + ig.warp_sum(i32(1))
    x[t] = ig.warp_scan(x[t], exclusive=n > 3)  # refuse: IG130
