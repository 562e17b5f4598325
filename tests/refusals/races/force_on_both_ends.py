"""Springs that share a particle add to its force at the same time."""

import isogrid as ig
from isogrid import In, InOut, f32, i32
from isogrid.dims import K, N


@ig.kernel(grid=K)
def springs(a: In[i32, K], pull: In[f32, K], force: InOut[f32, N]) -> None:
    e = ig.gid()
    force[a[e]] += pull[e]  # refuse: IG201
