import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N
import numpy as np


@ig.kernel(grid=N)
def numpy_in_kernel(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    buf = np.zeros(4)  # refuse: IG146
    y[i] = np.maximum(x[i], 0.0)  # refuse: IG146
    v = np.float32(k[i])  # refuse: IG146
    w = np.sum(x)  # refuse: IG146
