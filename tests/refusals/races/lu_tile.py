"""The multipliers are used before they are all made."""

from typing import Literal

import isogrid as ig
from isogrid import InOut, i32


@ig.kernel(groups=(1, 1), block=(4, 4))
def lu(a: InOut[i32, Literal[4], Literal[4]]) -> None:
    r, c = ig.lids()
    for k in range(3):
        if r > k and c == k:
            a[r, k] = a[r, k] * a[k, k]
        if r > k and c > k:
            a[r, c] -= a[r, k] * a[k, c]  # refuse: IG201
        ig.barrier()
