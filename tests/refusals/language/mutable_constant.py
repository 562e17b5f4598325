import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N
import numpy as np


WEIGHTS = [1.0, 2.0]
TABLE = np.zeros(4, np.float32)
NAMES = {"a": 1}


@ig.kernel(grid=N)
def mutable_constant(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = WEIGHTS[0] * TABLE[k[i]]  # refuse: IG125, IG125
    v = NAMES  # refuse: IG125
    u = TABLE[0] + WEIGHTS[1]  # once is enough
