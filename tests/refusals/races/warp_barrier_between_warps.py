"""A warp barrier orders the threads of one warp only."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, f32


@ig.kernel(groups=1, block=64)
def rotate(x: In[f32, Literal[64]], y: Out[f32, Literal[64]]) -> None:
    s = ig.shared(f32, 64)
    i = ig.lid()
    s[i] = x[i]
    ig.warp_barrier()
    y[i] = s[(i + 1) % 64]  # refuse: IG201
