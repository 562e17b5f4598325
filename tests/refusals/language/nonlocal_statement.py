import isogrid as ig
from isogrid import InOut, f32
from isogrid.dims import N


def outer():
    count = 0

    @ig.kernel(grid=N)
    def nonlocal_statement(x: InOut[f32, N]) -> None:
        nonlocal count  # refuse: IG100
        x[ig.gid()] = 0.0

    return nonlocal_statement


kernel = outer()
