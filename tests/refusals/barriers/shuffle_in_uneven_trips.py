import isogrid as ig
from isogrid import InOut, Out, i32, w32
from isogrid.dims import N


@ig.kernel(groups=1, block=64, warp=16)
def uneven(y: InOut[i32, N]) -> None:
    t = ig.lid()
    v = y[t]
    for _ in range(t):
        v = ig.shuffle_down(v, 1)  # refuse: IG303
    for _ in range(t // 16):
        v = ig.shuffle_down(v, 1)
    y[t] = v
