"""Every thread adds to one cell."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, f32
from isogrid.dims import N


@ig.kernel(grid=N)
def total(x: In[f32, N], y: InOut[f32, Literal[1]]) -> None:
    y[0] += x[ig.gid()]  # refuse: IG201
