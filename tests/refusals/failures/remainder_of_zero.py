import isogrid as ig
from isogrid import InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def remainder_of_zero(y: InOut[i32, N]) -> None:
    i = ig.gid()
    width = i32(len(y) - len(y))
    y[i] = y[i] % width  # refuse: IG403
