import isogrid as ig
from isogrid import Out, i32, i64
from isogrid.dims import N


@ig.kernel(grid=lambda n: n + 9223372036854775808)
def k(n: i64, y: Out[i32, N]) -> None:
    pass
