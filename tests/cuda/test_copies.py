"""Threads of the grid that one thread of the GPU takes: which ones, and that results and traps stay what they are."""

from typing import Any

import numpy as np
import pytest

from isogrid import pipeline
from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cuda.plan_copies import plan_copies
from isogrid.cli.stages import stages_of
from isogrid.lowering.flat_conditions import flat_conditions
from isogrid.lowering.name_assignments import name_assignments
from tests.conformance.support import agree, kernel

ROWS = """
@ig.kernel(grid=(H, W), block=(8, 32))
def k(x: ig.In[ig.{type}, H, W], y: ig.InOut[ig.{type}, H, W]) -> None:
    i, j = ig.gids()
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        y[i, j] = x[i - 1, j] // 2 + x[i + 1, j] // 2
"""
COLOURS = """
@ig.kernel(grid=(H, W), block=(8, 32))
def k(u: ig.InOut[ig.f32, H, W], colour: ig.i32) -> None:
    i, j = ig.gids()
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1 and (i + j) % 2 == colour:
        u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
"""
ODD_COLOURS = COLOURS.replace("block=(8, 32)", "block=(3, 32)")
SPREAD = """
@ig.kernel(grid=N, block=64)
def k(step: ig.i64, at: ig.In[ig.i32, N], x: ig.In[ig.f32, M], y: ig.InOut[ig.f32, M]) -> None:
    ig.require(step > 0)
    i = ig.gid()
    low = i % step + i // step * step * 2
    if low + step < len(y):
        y[low] = x[at[i]]
        y[low + step] = x[low] + 1
"""
PLAIN = """
@ig.kernel(grid=N, block=16)
def k(x: ig.In[ig.f32, N], y: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] + 1
"""


def plan(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    facts = LaunchFacts(small=True)
    built = stages_of(kernel(text), (), wide=False).built
    device = pipeline.lower(pipeline.optimise(built, frozenset(), facts, {}), facts)
    return plan_copies(name_assignments(flat_conditions(device)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ROWS.format(type="i32"), ((1, 4), (1, 1))),
        (COLOURS, ((4, 1), (8, 1))),
        (ODD_COLOURS, ((1, 1), (3, 1))),
        (SPREAD, ((4,), (64,))),
        (PLAIN, ((4,), (1,))),
    ],
    ids=["rows", "colours", "colours that no rows share", "spread", "plain"],
)
def test_the_plan(text: str, expected: Any) -> None:
    assert plan(text) == expected


@pytest.mark.parametrize("type", ["i32", "u8", "i64"])
@pytest.mark.parametrize("width", [1, 4, 16, 31, 128, 129, 132, 144])
def test_rows_of_all_widths(type: str, width: int) -> None:
    dtype = np.dtype({"i32": "i4", "u8": "u1", "i64": "i8"}[type])
    for height in (1, 2, 17):
        x = np.random.default_rng(width).integers(0, 100, (height, width), dtype)
        agree(kernel(ROWS.format(type=type)), "simulated", x, np.zeros_like(x))


@pytest.mark.parametrize("text", [COLOURS, ODD_COLOURS], ids=["even", "odd"])
@pytest.mark.parametrize("shape", [(1, 1), (32, 32), (33, 65), (70, 31)])
def test_colours(text: str, shape: tuple[int, int]) -> None:
    k = kernel(text)
    for colour in (0, 1):
        agree(k, "simulated", np.random.default_rng(1).random(shape, np.float32), colour)


@pytest.mark.parametrize("size", [1, 64, 65, 255, 256, 257, 600])
def test_threads_apart(size: int) -> None:
    k = kernel(SPREAD)
    x = np.arange(2 * size, dtype=np.float32)
    for step in (1, 8, 64):
        for bad in (None, 0, size // 2, size - 1):
            at = np.arange(size, dtype=np.int32)
            if bad is not None:
                at[bad] = -1
                at[size - 1] = 2 * size
            agree(k, "simulated", step, at, x, np.zeros_like(x))


@pytest.mark.parametrize("size", [1, 15, 16, 17, 1023, 1024, 1025, 1100])
def test_small_blocks(size: int) -> None:
    agree(kernel(PLAIN), "simulated", np.arange(size, dtype=np.float32), np.zeros(size, np.float32))


@pytest.mark.parametrize("call", ["math.exp", "math.log", "math.tanh", "math.sin", "math.tan"])
def test_slow_paths_and_tables_of_functions_do_not_forbid_copies(call: str) -> None:
    """Nearly all threads leave a function before its slow path; its tables are small and stay near."""
    text = PLAIN.replace("x[i] + 1", f"{call}(x[i])").replace("block=16", "block=256")
    assert plan(text)[0][0] >= 2
