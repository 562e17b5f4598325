"""Nine loops around one barrier: each doubles the number of neighbouring trips."""

from typing import Literal

import isogrid as ig
from isogrid import InOut, i32


@ig.kernel(groups=1, block=8)
def nest(n: i32, x: InOut[i32, Literal[8]]) -> None:  # refuse: IG203
    s = ig.shared(i32, 8)
    i = ig.lid()
    for a in range(n):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    for e in range(d):
                        for f in range(e):
                            for g in range(f):
                                for h in range(g):
                                    for j in range(h):
                                        s[i] = x[i]
                                        ig.barrier()
                                        x[i] = s[7 - i]
                                        ig.barrier()
