from typing import Literal

import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


@ig.kernel(grid=N)
def k(x: InOut[f32, N, float], y: InOut[f32, Literal[0], N], z: InOut[f32, N, "M"]) -> None:
    x[ig.gid(), 0] = 0.0
