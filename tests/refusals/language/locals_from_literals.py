import isogrid as ig
from isogrid import In, Out, f64, w32
from isogrid.dims import N


@ig.kernel(grid=N)
def bisect(a: In[f64, N], out: Out[f64, N]) -> None:
    i = ig.gid()
    lo, hi = 0.0, 10.0
    for _ in range(50):
        m = 0.5 * (lo + hi)
        if m * m * m + m < a[i]:  # refuse: IG108
            lo = m
        else:
            hi = m
    out[i] = 0.5 * (lo + hi)  # refuse: IG115


@ig.kernel(grid=N)
def mixed(seed: w32, out: Out[f64, N]) -> None:
    i = ig.gid()
    h = 7
    k = i
    out[i] = f64(h ^ seed)  # refuse: IG108
    out[i] = f64(k ^ seed)  # refuse: IG108
