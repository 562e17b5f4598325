"""Places for the kept elements come from another kernel; nothing says that they differ."""

import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import M, N


@ig.kernel(grid=N)
def compact(x: In[f32, N], keep: In[bool, N], at: In[i32, N], y: Out[f32, M]) -> None:
    i = ig.gid()
    if keep[i]:
        y[at[i]] = x[i]  # refuse: IG201
