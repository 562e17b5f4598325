"""Groups that one warp runs: every group operation in every size, against the interpreter; and kernels that are not."""

from typing import Any

import numpy as np
import pytest

from tests.conformance.support import agree, kernel

TYPES = ("i32", "i64", "u32", "u64", "w32", "w64", "f32", "f64")


def text(op: str, type: str, block: int, extra: str = "") -> str:
    return f"""
@ig.kernel(grid=N, block={block})
def k(x: ig.In[ig.{type}, N], y: ig.InOut[ig.{type}, N], out: ig.InOut[ig.{type}, M]) -> None:
    i = ig.gid()
    v = x[i] if i < len(x) else ig.{type}(0)
    s = ig.{op}(v{extra})
    if i < len(y):
        y[i] = s
    if ig.lid() == 0 and ig.group_id() < len(out):
        out[ig.group_id()] = s
"""


def values(type: str, size: int, big: bool) -> Any:
    random = np.random.default_rng(size)
    dtype = np.dtype({"w": "u"}.get(type[0], type[0]) + str(int(type[1:]) // 8))
    if dtype.kind == "f":
        made = random.standard_normal(size).astype(dtype)
        made[:: max(size // 5, 1)] = -0.0
        return made
    info = np.iinfo(dtype)
    high = info.max if big or type[0] == "w" else info.max // 2048
    low = (info.min if big else -high) if dtype.kind == "i" else 0
    return random.integers(low, high, size, dtype, endpoint=True)


@pytest.mark.parametrize("block", [64, 128, 256])
@pytest.mark.parametrize("type", TYPES)
def test_operations_agree(block: int, type: str) -> None:
    for op, extra in (
        ("group_sum", ""),
        ("group_min", ""),
        ("group_max", ""),
        ("group_scan", ""),
        ("group_scan", ", exclusive=True"),
    ):
        k = kernel(text(op, type, block, extra))
        for size in (block, 3 * block + 5):
            groups = -(-size // block)
            for big in (False, True):
                x = values(type, size, big)
                agree(k, "simulated", x, np.zeros_like(x), np.zeros(groups, x.dtype))


def test_votes_and_writes_between_operations_agree() -> None:
    k = kernel("""
@ig.kernel(grid=N, block=128)
def k(x: ig.In[ig.f32, N], y: ig.InOut[ig.f32, N], z: ig.InOut[ig.i32, N]) -> None:
    i = ig.gid()
    t = ig.lid()
    inside = i < len(x)
    if inside:
        y[i] = x[i] * 2
    some = ig.group_any(inside and t > 100)
    first = i - t + (127 - t)
    v = y[first] if first < len(y) else ig.f32(0)
    every = ig.group_all(inside)
    total = ig.group_sum(v)
    if inside:
        z[i] = (1 if some else 0) + (2 if every else 0)
        y[i] = total + v
""")
    for size in (1, 100, 128, 300):
        x = np.random.default_rng(size).random(size).astype(np.float32)
        agree(k, "simulated", x, np.zeros_like(x), np.zeros(size, np.int32))


@pytest.mark.parametrize("type", ["i32", "u32", "i64", "u64"])
@pytest.mark.parametrize("op", ["group_sum", "group_scan"])
def test_totals_at_the_edge_of_their_type(op: str, type: str) -> None:
    """A group whose values are all small is not asked for its totals: right up to where small ends, and where every
    thread has the smallest or largest of them. One group of three is large, or traps."""
    k = kernel(text(op, type, 64))
    info = np.iinfo({"i": np.int32, "u": np.uint32}[type[0]] if type[1:] == "32" else f"{type[0]}8")
    end = (int(info.max) + 1) // 64
    low = -end if type[0] == "i" else 0
    for number in (end - 1, end, low, low - 1 if low else 1):
        for everywhere in (False, True):
            x = np.zeros(3 * 64, info.dtype)
            x[64 : 128 if everywhere else 65] = number
            agree(k, "simulated", x, np.zeros_like(x), np.zeros(3, x.dtype))
