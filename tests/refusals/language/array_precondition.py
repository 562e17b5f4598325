import isogrid as ig
from isogrid import In, InOut, f32, i32
from isogrid.dims import M, N


@ig.kernel(grid=N)
def array_precondition(p: In[i32, N], x: InOut[f32, N], f: In[bool, M], m: f32) -> None:
    ig.require(ig.distinct(x))  # refuse: IG144
    ig.require(ig.distinct(m))  # refuse: IG130
    ig.require(ig.all_finite(p))  # refuse: IG130
    ig.require(ig.all_in_range(p, 0, m))  # refuse: IG130
    ig.require(ig.all_in_range(p, 0, p[0]))  # refuse: IG144
    ig.require(ig.distinct(p, where=f))  # refuse: IG130
    ig.require(ig.is_sorted(p, where=p))  # refuse: IG129
    i = ig.gid()
    x[i] = 1.0
    ig.distinct(p)  # refuse: IG143
