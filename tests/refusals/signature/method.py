import isogrid as ig
from isogrid import In, Out, f32
from isogrid.dims import N


class Smoother:
    @ig.kernel(grid=N)
    def step(self, x: In[f32, N], y: Out[f32, N]) -> None:
        i = ig.gid()
        y[i] = 0.5 * x[i]
