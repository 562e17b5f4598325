"""Values that decide which barriers a group comes to, found in loops and branches that hold none themselves."""

from typing import Any

import numpy as np
import pytest
from tests.conformance.support import agree, kernel

HEAD = """
@ig.func
def find(x, v, m):
    for k in range(m):
        if x[k] == v:
            return k
        if 12 // x[k] == v:
            return k + 100
    return -1


@ig.kernel(groups=2, block=8)
def k(v: ig.i32, x: ig.In[ig.i32, N], y: ig.InOut[ig.i32, M]) -> None:
    s = ig.shared(ig.i32, 8)
    i, t = ig.gid(), ig.lid()
    q = y[i]
"""
TAIL = """
    s[t] = q + ig.i32(j)
    if j >= 0:
        ig.barrier()
        q += s[7 - t]
        ig.barrier()
    y[i] = q + ig.i32(j) * 1000
"""
WAYS = {
    "a helper that returns out of a loop": "    j = find(x, v, 5)",
    "a helper that leaves the array": "    j = find(x, v, 50)",
    "a branch": "    j = -1\n    if v > 2:\n        j = int(x[v - 3])",
    "a while loop": "    j = 0\n    while x[j] != v:\n        j += 1_000_000_000 if v == 2 else 1",
    "a loop with work of each thread": """
    j = -1
    for a in range(len(x)):
        q += x[a] * ig.i32(t)
        if x[a] == v:
            j = a
        if t > 3 and x[a] > 3:
            q -= 100 // (x[a] - ig.i32(t))""",
    "nested loops that break": """
    j = -1
    for a in range(3):
        for b in range(a, 4):
            if b * 4 + a == v:
                j = a * 10 + b
                q += ig.i32(t)
                break
        if j >= 0:
            break""",
    "a loop with barriers of its own": """
    j = 0
    for a in range(2):
        if x[a] > 2:
            j += a
        ig.barrier()
        if j > 0:
            ig.barrier()""",
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_the_group_knows_them(way: str) -> None:
    made: Any = kernel(HEAD + WAYS[way] + TAIL)
    for values in ([1, 5, 3, 9, 7], [1, 4, 2, 9, 7], [1, 5, 0, 9, 7], [30, 40, 50, 9, 8]):
        for v in (3, 2, 9, 50, 0):
            agree(made, "cpu", v, np.array(values, np.int32), np.arange(16, dtype=np.int32))
