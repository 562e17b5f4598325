# target: metal
import isogrid as ig
from isogrid import In, InOut, i64
from isogrid.dims import N


@ig.kernel(grid=N)
def total_of(x: In[i64, N], total: InOut[i64, 1]) -> None:
    ig.atomic_add(total, 0, x[ig.gid()])  # refuse: IG502
