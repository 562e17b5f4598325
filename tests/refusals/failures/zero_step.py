import isogrid as ig
from isogrid import InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N)
def zero_step(y: InOut[i32, N]) -> None:
    step = 0
    for k in range(0, 10, step):  # refuse: IG408
        y[ig.gid()] = 1
