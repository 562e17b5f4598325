import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.func
def sign(v: f32) -> f32:  # refuse: IG131
    if v < 0.0:
        return -1.0
    elif v > 0.0:
        return 1.0


@ig.func
def pair(v: f32) -> tuple[f32, f32]:
    if v < 0.0:
        return v, v
    return v  # refuse: IG131


@ig.func
def nothing(v: f32) -> None:
    return


@ig.func
def both(v: f32) -> f32:
    if v < 0.0:
        return v
    return ig.gid()  # refuse: IG107


@ig.kernel(grid=N)
def helper_results(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = sign(x[i])
    u, v = pair(x[i])
    w = nothing(x[i])  # refuse: IG150
    y[i] = both(x[i])
