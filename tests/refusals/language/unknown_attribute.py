import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N
from collections import namedtuple

corner = namedtuple("Corner", "left top")(1.0, 2.0)


@ig.kernel(grid=N)
def unknown_attribute(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x.sum  # refuse: IG123
    v = i.real  # refuse: IG123
    w = x.T  # refuse: IG123
    q = corner.left + x.dtype.itemsize  # refuse: IG123, IG123
