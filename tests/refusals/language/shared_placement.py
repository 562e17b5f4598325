import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.func
def sums(v: f32) -> f32:
    t = ig.shared(f32, 64)  # refuse: IG133
    return v


@ig.kernel(grid=N)
def shared_placement(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    if i > 4:
        t = ig.shared(f32, 64)  # refuse: IG133
    y[i] = sums(x[i])
