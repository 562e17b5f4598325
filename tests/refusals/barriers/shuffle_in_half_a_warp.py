import isogrid as ig
from isogrid import InOut, i32
from typing import Literal


@ig.kernel(groups=1, block=32)
def half(y: InOut[i32, Literal[32]]) -> None:
    t = ig.lid()
    if ig.lane_id() < 16:
        y[t] += ig.shuffle_down(y[t], 8)  # refuse: IG301
