"""Quotient and remainder by data do not name the thread."""

from typing import Literal

import isogrid as ig
from isogrid import In, Out, i32


@ig.kernel(groups=1, block=8)
def split(p: In[i32, Literal[8]], y: Out[i32, Literal[64], Literal[64]]) -> None:
    lid = ig.lid()
    y[lid // p[lid], lid % p[lid]] = 1  # refuse: IG201
