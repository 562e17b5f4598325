import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def method_call(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x.sum()  # refuse: IG147
    t = (1, 2)
    v = t.index(1)  # refuse: IG147
