"""A script that launches a kernel on what its arguments say."""

import sys

import numpy as np

import isogrid as ig
from isogrid import InOut, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=256)
def double(x: InOut[i32, N]) -> None:
    i = ig.gid()
    x[i] = x[i] * 2


if __name__ == "__main__":
    x = np.array([int(word) for word in sys.argv[1:]], np.int32)
    double(x)
    print(*x)
