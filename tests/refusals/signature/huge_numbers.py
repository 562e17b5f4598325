import isogrid as ig
from isogrid import In, Out, i32
from isogrid.dims import N


@ig.kernel(grid=2**63)
def k(
    x: In[i32, 2**63],
    z: In[i32, N * 2**64],
    m: 10**5000,
    w: In[()],
    y: Out[i32, N],
    n: i32 = 10**5000,
    q: i32 = (10**5000, 1),
) -> None:
    pass
