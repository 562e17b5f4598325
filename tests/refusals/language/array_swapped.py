import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def array_swapped(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    a = ig.local(f32, 4)
    b = ig.local(f32, 4)
    for j in range(4):
        t = a
        a = b  # refuse: IG124
        b = t  # refuse: IG124
    y[i] = a[0]
