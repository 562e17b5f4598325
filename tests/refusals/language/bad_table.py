import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N
import numpy as np


T = np.zeros(4, np.complex64)
T.flags.writeable = False


@ig.kernel(grid=N)
def bad_table(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = f32(T[k[i]].real)  # refuse: IG126
