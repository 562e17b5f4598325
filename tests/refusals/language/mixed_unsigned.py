import isogrid as ig
from isogrid import In, Out, i32, u32, w32
from isogrid.dims import N


@ig.kernel(grid=N)
def mixed_unsigned(a: In[i32, N], b: In[u32, N], c: In[w32, N], o: Out[i32, N]) -> None:
    i = ig.gid()
    v = a[i] + b[i]  # refuse: IG108
    w = a[i] + c[i]  # refuse: IG108
    u = i + c[i]  # refuse: IG108
    o[i] = 0
