import isogrid as ig
from isogrid import In, Out, i32, u8
from isogrid.dims import N


@ig.kernel(grid=N)
def narrow_value_kept(k: In[i32, N], b: Out[u8, N]) -> None:
    i = ig.gid()
    v = u8(k[i])  # refuse: IG114
    w = u8(k[i]) + 1  # refuse: IG114
    b[i] = u8(k[i])
