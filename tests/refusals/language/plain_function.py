import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


def square(v: float) -> float:
    return v * v


@ig.kernel(grid=N)
def plain_function(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = square(x[i])  # refuse: IG127
