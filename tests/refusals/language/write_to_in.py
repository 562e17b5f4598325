import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N
import numpy as np


T = np.array([1.0, 2.0], np.float32)
T.flags.writeable = False


@ig.kernel(grid=N)
def write_to_in(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    x[i] = 0.0  # refuse: IG116
    x[i] += 1.0  # refuse: IG116
    T[0] = 1.0  # refuse: IG116
    y[i] = T[k[i]]
