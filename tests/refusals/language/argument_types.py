import isogrid as ig
from isogrid import In, Out, f32, i32, u32
from isogrid.dims import N
import math


@ig.func
def half(v: f32) -> f32:
    return 0.5 * v


@ig.kernel(grid=N)
def argument_types(x: In[f32, N], k: In[i32, N], n: u32, y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = half(k[i])  # refuse: IG130
    y[i] = math.sqrt(k[i])  # refuse: IG130
    y[i] = ig.fma(x[i], k[i], 1.0)  # refuse: IG130
    v = len(i)  # refuse: IG130
    w = ig.bitcast(ig.i64, x[i])  # refuse: IG130
    u = ig.popcount(x[i])  # refuse: IG130
    t = ig.saturate(x, 1.0)  # refuse: IG130
    s = ig.select(n > 3, k[i], n)  # refuse: IG130
    r = ig.clamp(k[i], 0, n)  # refuse: IG130
    q = ig.clamp(k[i], n, i) + max(k[i], n, i)
