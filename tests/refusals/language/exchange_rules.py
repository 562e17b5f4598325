import isogrid as ig
from isogrid import InOut, i32, i64
from isogrid.dims import N


@ig.kernel(grid=N)
def exchange_rules(a: InOut[i64, N], b: InOut[i32, N], c: InOut[i32, N]) -> None:
    i = ig.gid()
    ig.atomic_exchange(a, 0, i)  # refuse: IG140
    ig.atomic_cas(b, 0, 0, 1)
    b[i] = 0  # refuse: IG140
    ig.atomic_exchange(c, i, 1)
    ig.atomic_exchange(c, i, 2)  # refuse: IG140
