import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def assert_message(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    assert x[i] > 0.0, f"bad {i}"  # refuse: IG152
    assert x[i] > 0.0, i  # refuse: IG152
    y[i] = 0.0
