"""Maps by elementary functions in rounds: all sizes, slow paths, arrays that start anywhere, which maps those are."""

from typing import Any

import numpy as np
import pytest

from isogrid.cli.stages import stages_of
from isogrid.cli.text_targets import ptx_text
from tests.conformance.support import agree, kernel

ONE = """
import math
@ig.kernel(grid=N)
def k(x: ig.In[ig.f32, N], y: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    y[i] = math.exp(x[i]) + ig.f32(i)
"""
TWO = """
import math
@ig.kernel(grid=N, block=96)
def k(x: ig.In[ig.f32, N], y: ig.InOut[ig.f32, N]) -> None:
    i = ig.gid()
    y[i] = math.sin(y[i] + x[i])
"""
LATER = """
import math
@ig.kernel(grid=N)
def k(x: ig.In[ig.f32, N], y: ig.InOut[ig.f32, N]) -> None:
    i = ig.gid()
    y[i] = math.log(x[i]) * y[i]
"""
NEIGHBOUR = ONE.replace("math.exp(x[i])", "math.exp(x[max(i - 1, 0)])")
HALVES = ONE.replace("x: ig.In[ig.f32, N]", "x: ig.In[ig.f16, N]")


def values(size: int, rare: bool) -> Any:
    x = np.random.default_rng(size).uniform(0.5, 4, size).astype(np.float32)
    if rare:
        x[:: max(size // 7, 1)] = 1e6
    return x


@pytest.mark.parametrize("text", [ONE, TWO, LATER], ids=["one array", "two arrays", "loaded later"])
@pytest.mark.parametrize("size", [3, 1023, 3072, 4100, 5119])
@pytest.mark.parametrize("rare", [False, True], ids=["usual", "slow paths"])
def test_all_sizes(text: str, size: int, rare: bool) -> None:
    agree(kernel(text), "simulated", values(size, rare), np.zeros(size, np.float32))


@pytest.mark.parametrize("start", [1, 4])
def test_arrays_that_start_anywhere(start: int) -> None:
    x = values(6000, False)
    agree(kernel(ONE), "simulated", x[start:], np.zeros(6000 - start, np.float32))


@pytest.mark.parametrize(
    ("text", "copies"), [(ONE, True), (TWO, True), (LATER, True), (NEIGHBOUR, False), (HALVES, False)]
)
def test_what_takes_rounds(text: str, copies: bool) -> None:
    """Not elements beside the thread's own, which start anywhere, nor what is converted when it is loaded."""
    assert ("cp.async" in ptx_text(stages_of(kernel(text)))) == copies


@pytest.mark.parametrize(("threads", "copies"), [(0, True), (512, True), (1024, False)])
def test_blocks_without_room_take_none(threads: int, copies: bool) -> None:
    """Three rounds of two arrays are 96 bytes a thread, and a block has 48 KiB. Blocks have 128 threads, or as many as
    their author promises at most."""
    wide = kernel(TWO.replace("block=96", f"block={threads or 1024}"))
    if threads:
        wide = wide.options(max_threads=threads)
    text = ptx_text(stages_of(wide))
    assert ("cp.async" in text) == copies and (".reqntid 128" in text) == (not threads)
    agree(wide, "simulated", values(9000, True), np.zeros(9000, np.float32))


def test_what_takes_longer_than_memory_takes_more_rounds() -> None:
    assert ptx_text(stages_of(kernel(ONE.replace("exp", "acosh")))).count("cp.async.cg") == 6
    assert ptx_text(stages_of(kernel(ONE))).count("cp.async.cg") == 3


@pytest.mark.parametrize("size", [129, 4096])
def test_rounds_go_on_behind_a_slow_path(size: int) -> None:
    """Its elements are taken one by one from where they were copied to, and not all that are left from the array."""
    agree(kernel(ONE), "simulated", values(size * 3, True), np.zeros(size * 3, np.float32))
    assert ptx_text(stages_of(kernel(ONE))).count("ld.shared.b32") == 1
