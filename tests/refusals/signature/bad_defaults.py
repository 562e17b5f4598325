import isogrid as ig
from isogrid import In, InOut, f32, i32, u32
from isogrid.dims import N


@ig.kernel(grid=N)
def k(
    x: InOut[f32, N], n: u32 = -1, a: i32 = 0.5, flag: bool = 1, y: In[f32, N] = None, z: In[f32, N] | None = 3
) -> None:
    x[ig.gid()] = 0.0
