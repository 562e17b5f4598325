import isogrid as ig
from isogrid import InOut, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def order_dependent_atomics(z: InOut[f32, N], n: InOut[i32, N]) -> None:
    i = ig.gid()
    ig.atomic_add(z, i, 1.0)  # refuse: IG160
    old = ig.atomic_add(n, i, 1)  # refuse: IG160


@ig.kernel(grid=N)
def seen(flags: InOut[i32, N], y: InOut[i32, N]) -> None:
    i = ig.gid()
    y[i] = ig.atomic_load(flags, i)  # refuse: IG160
    ig.atomic_store(flags, i, 1)  # refuse: IG160
