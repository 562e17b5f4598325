"""`i ^ c` is a permutation of the threads; with another place added it is not."""

import isogrid as ig
from isogrid import Out, i32
from isogrid.dims import N


@ig.kernel(groups=1, block=4)
def exchange(c: i32, y: Out[i32, N]) -> None:
    i = ig.lid()
    ig.barrier()
    y[(i ^ ig.i64(c)) + 4 - i] = 1  # refuse: IG201
