from typing import TypeVar

import isogrid as ig
from isogrid import InOut
from isogrid.dims import N


T = TypeVar("T")
U = TypeVar("U", float, int)


@ig.kernel(grid=N)
def k(a: U, x: InOut[T, N]) -> None:
    x[ig.gid()] = a
