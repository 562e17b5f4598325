import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N
import math


@ig.kernel(grid=N)
def python_function(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    v = sorted(x)  # refuse: IG148
    w = float(k[i])  # refuse: IG148
    u = divmod(k[i], 2)  # refuse: IG148
    t = open("f")  # refuse: IG148
    s = i(3)  # refuse: IG148
    r = math.factorial(3)  # refuse: IG148
    y[i] = 0.0
