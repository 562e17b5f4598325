import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def not_iterable(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    for v in i:  # refuse: IG135
        pass
    for v in reversed(range(4)):  # refuse: IG135
        pass
    for v, w in zip(x, range(1, 9)):  # refuse: IG135
        pass
    y[i] = 0.0
