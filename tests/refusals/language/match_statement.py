import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def match_statement(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    match k[i]:  # refuse: IG102
        case 0:
            y[i] = 0.0
        case _:
            y[i] = x[i]
