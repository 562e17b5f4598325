import isogrid as ig
from isogrid import InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def zero_divisor(y: InOut[i32, N]) -> None:
    i = ig.gid()
    y[i] = y[i] // 0  # refuse: IG403
