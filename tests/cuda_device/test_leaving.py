"""A group leaves at the end of its first interval with a trap, whatever the size of its block: on a real GPU."""

import linecache
from typing import Any

import numpy as np
import pytest

import isogrid as ig

_TEXT = """
import isogrid as ig
from isogrid.dims import N

@ig.kernel(grid=N, block=BLOCK)
def k(n: ig.i32, x: ig.In[ig.i32, N], y: ig.InOut[ig.i32, N]) -> None:
    i = ig.gid()
    t = ig.lid()
    s = ig.shared(ig.i32, BLOCK)
    if i < len(x):
        assert x[i] < 8 or t < LAST, "first interval"
    ig.barrier()
    s[t] = 1
    assert t > 1 or n < 3, "second interval"
    ig.barrier()
    if i < len(y):
        y[i] = s[BLOCK - 1 - t]
"""


def _kernel(block: int) -> Any:
    text = _TEXT.replace("BLOCK", str(block)).replace("LAST", str(block - 2))
    name = f"<leaving {block}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"__name__": "leaving"}
    exec(compile(text, name, "exec"), space)
    return space["k"]


def _says(kernel: Any, device: str, x: "np.ndarray[Any, Any]") -> str:
    try:
        kernel.on(device)(3, x, np.zeros_like(x))
    except ig.Trap as trap:
        return str(trap)
    return ""


@pytest.mark.parametrize("block", [1, 2, 8, 31, 32, 33, 64, 96, 256, 1024])
def test_the_first_interval_wins(block: int) -> None:
    if block < 3:
        block += 2
    kernel = _kernel(block)
    for bad in (block - 1, block - 2, 2 * block - 1, None):
        x = np.zeros(block * 3, np.int32)
        if bad is not None:
            x[bad] = 9
        assert _says(kernel, "cuda", x) == _says(kernel, "interp", x) != ""
