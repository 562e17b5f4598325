import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def tuple_index(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    t = (1.0, 2.0)
    y[i] = t[k[i]]  # refuse: IG122
    y[i] = t[2]  # refuse: IG122
    t[0] = 1.0  # refuse: IG124


STEPS = (0, 1, 0, -1)
WEIGHTS = (0.25, 1)


@ig.kernel(grid=N)
def tuple_of_constants(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    for j in range(4):
        y[i] = x[i] * f32(STEPS[j])  # refuse: IG122
    y[i] = WEIGHTS[k[i]]  # refuse: IG122
