import isogrid as ig
from isogrid import In, InOut, Out, bf16, f16, f32, f64, i32, w32
from isogrid.dims import N


@ig.func
def doubled(v: f16) -> f32:  # refuse: IG151
    return 2.0 * v


@ig.kernel(grid=N)
def stored_floats(x: In[f32, N], d: In[f64, N], k: In[i32, N], y: InOut[f16, N], z: Out[bf16, N], w: In[w32, N]) -> None:
    i = ig.gid()
    y[i] = x[i]  # refuse: IG115
    z[i] = d[i]  # refuse: IG115
    z[i] = k[i]  # refuse: IG115
    z[i] = w[i]  # refuse: IG115
    z[i] = y[i]  # refuse: IG115
    y[i] += 1.0  # refuse: IG115
    y[i] = f16(x[i] > 0.0)  # refuse: IG114
    y[i] = f16(True)  # refuse: IG114
    z[i] = bf16(w[i])  # refuse: IG114
    v = f16(x[i])  # refuse: IG114
    y[i] = f16(x[i]) + 1.0  # refuse: IG114
    z[i] = f16(x[i])  # refuse: IG115
    y[i] = 65520.0  # refuse: IG111
    y[i] = f16(1e6)  # refuse: IG111
    z[i] = True  # refuse: IG115
    t: bf16 = x[i]  # refuse: IG151
    ig.atomic_min(y, i, 1.0)  # refuse: IG139
    ig.atomic_add(y, i, 1.0)  # refuse: IG139
    u = ig.bitcast(f16, x[i])  # refuse: IG130
    s = ig.saturate(f16, x[i])  # refuse: IG130
    y[i] = f16(doubled(x[i]))
