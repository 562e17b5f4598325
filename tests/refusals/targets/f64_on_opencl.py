# target: opencl without f64
import isogrid as ig
from isogrid import In, Out, f64
from isogrid.dims import N


@ig.kernel(grid=N)
def halved(x: In[f64, N], z: Out[f64, N]) -> None:  # refuse: IG501
    i = ig.gid()
    z[i] = x[i] * 0.5
