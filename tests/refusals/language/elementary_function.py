import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N
import math


@ig.kernel(grid=N)
def elementary_function(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = math.ulp(x[i]) + math.degrees(x[i])  # refuse: IG102, IG102
