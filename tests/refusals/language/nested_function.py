import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def nested_function(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()

    def square(v):  # refuse: IG100
        return v * v

    y[i] = square(x[i])
