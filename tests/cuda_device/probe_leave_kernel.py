import isogrid as ig
from isogrid.dims import N


@ig.kernel(grid=N, block=BLOCK)
def k(n: ig.i32, x: ig.In[ig.i32, N], y: ig.InOut[ig.i32, N]) -> None:
    i = ig.gid()
    t = ig.lid()
    s = ig.shared(ig.i32, BLOCK)
    if i < len(x):
        assert x[i] < 8 or t < LAST, "first interval"
    ig.barrier()
    s[t] = 1
    assert t > 1 or n < 3, "second interval"
    ig.barrier()
    if i < len(y):
        y[i] = s[BLOCK - 1 - t]
