import isogrid as ig
from isogrid import InOut, i32, u64
from isogrid.dims import N


@ig.kernel(grid=N)
def inverse_of_one(s: i32, y: InOut[u64, N]) -> None:
    value = i32(1) ** (~(s & 1))  # refuse: IG405
    y[ig.gid()] = u64(value & 7) | u64(1)
