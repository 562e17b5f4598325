import isogrid as ig
from isogrid import InOut, f32, i32, u8
from isogrid.dims import N


@ig.kernel(grid=N)
def atomic_elements(b: InOut[u8, N], z: InOut[f32, N], n: InOut[i32, N]) -> None:
    i = ig.gid()
    ig.atomic_add(b, i, 1)  # refuse: IG139
    ig.atomic_and_(z, i, 1.0)  # refuse: IG139
    t = ig.local(i32, 4)
    ig.atomic_add(t, 0, 1)  # refuse: IG139
    ig.atomic_add(n, i, i)  # refuse: IG139
    ig.atomic_add(n, (i, 0), 1)  # refuse: IG119
