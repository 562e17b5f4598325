import isogrid as ig
from isogrid import In, InOut, f32
from isogrid.dims import N


@ig.kernel(grid=N, block=64)
def relax(goal: f32, x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    for _ in range(100):
        if i >= N or y[i] < goal:
            break
        y[i] -= 0.5 * x[i]
        ig.barrier()  # refuse: IG302
