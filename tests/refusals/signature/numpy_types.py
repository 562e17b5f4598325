import numpy as np

import isogrid as ig
from isogrid import InOut
from isogrid.dims import N


@ig.kernel(grid=N)
def k(a: np.float32, x: np.ndarray, y: InOut[np.int16, N]) -> None:
    y[ig.gid()] = 0
