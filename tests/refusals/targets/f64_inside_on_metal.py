# target: metal
import isogrid as ig
from isogrid import In, Out, f32, f64
from isogrid.dims import N


@ig.kernel(grid=N)
def rounded_once(x: In[f32, N], y: In[f32, N], z: Out[f32, N]) -> None:
    i = ig.gid()
    z[i] = f32(f64(x[i]) * f64(y[i]) + 1.0)  # refuse: IG501
