import isogrid as ig
from isogrid import InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def beyond_the_end(y: InOut[i32, N]) -> None:
    y[len(y) + ig.gid()] = 1  # refuse: IG401
