import isogrid as ig
from isogrid import In, Out, f32, i32, u8
from isogrid.dims import N


@ig.func
def helper(v: float) -> f32:  # refuse: IG151
    return v


@ig.kernel(grid=N)
def local_annotation(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    v: u8 = 1  # refuse: IG151
    w: float = 1.0  # refuse: IG151
    y[i]: f32 = 1.0  # refuse: IG151
    u = helper(x[i])
