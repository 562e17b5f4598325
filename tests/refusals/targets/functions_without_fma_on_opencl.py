# target: opencl without fma
import math

import isogrid as ig
from isogrid import In, Out, f64
from isogrid.dims import N


@ig.kernel(grid=N)
def waves(x: In[f64, N], y: Out[f64, N]) -> None:
    i = ig.gid()
    y[i] = math.sin(x[i])  # refuse: IG504
