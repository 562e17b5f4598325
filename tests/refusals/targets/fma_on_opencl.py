# target: opencl without fma
import math

import isogrid as ig
from isogrid import In, Out, f32
from isogrid.dims import N


@ig.kernel(grid=N)
def line(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = ig.fma(x[i], 3.0, math.tanh(x[i]))  # refuse: IG504
