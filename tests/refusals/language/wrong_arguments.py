import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N
import math


@ig.func
def lerp(a: f32, b: f32, t: f32) -> f32:
    return a + (b - a) * t


@ig.kernel(grid=N)
def wrong_arguments(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = lerp(x[i], 1.0)  # refuse: IG129
    y[i] = lerp(x[i], 1.0, 2.0, 3.0)  # refuse: IG129
    y[i] = lerp(x[i], 1.0, u=2.0)  # refuse: IG129
    y[i] = min(x[i])  # refuse: IG129
    y[i] = math.sqrt(x[i], x[i])  # refuse: IG129
    y[i] = max(x[i], 0.0, key=None)  # refuse: IG129
