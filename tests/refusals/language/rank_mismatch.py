from typing import Literal

import isogrid as ig
from isogrid import InOut, Out, f32
from isogrid.dims import N


@ig.kernel(grid=N)
def rank_mismatch(m: InOut[f32, N, Literal[4]], o: Out[f32, N]) -> None:
    i = ig.gid()
    o[i] = m[i, 0, 0]  # refuse: IG119
    o[i, 0] = 0.0  # refuse: IG119
    m[i] = 0.0  # refuse: IG119
    for v in m[i, 0]:  # refuse: IG135
        pass
