import isogrid as ig
from isogrid import In, Out, f32, i32, u8, w32
from isogrid.dims import N

LONG = 10**5000


@ig.kernel(grid=N)
def literal_out_of_range(x: In[f32, N], k: In[i32, N], c: In[w32, N], b: Out[u8, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    v = k[i] + 2147483648  # refuse: IG111
    y[i] = x[i] * 1e39  # refuse: IG111
    b[i] = 300  # refuse: IG111
    w = c[i] ^ -1  # refuse: IG111
    u = 9223372036854775808  # refuse: IG111
    z = LONG * k[i]  # refuse: IG111
    y[i] = 1e300 * 1e300 ** 2  # refuse: IG113
