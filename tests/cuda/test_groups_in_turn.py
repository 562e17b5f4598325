"""Blocks that run several groups and keep sums in registers: the same totals, and the same words where one is lost."""

from typing import Any

import numpy as np
import pytest

from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cuda.emit import emit_cuda
from isogrid.backends.cuda.target import cuda_target
from isogrid.cli.stages import stages_of
from isogrid.pipeline import lower, optimise
from tests.conformance.support import agree, kernel

SUMS = """
@ig.kernel(groups=ig.cdiv(N, 64), block=64)
def k(x: ig.In[ig.{type}, N], bins: ig.InOut[ig.{type}, M]) -> None:
    local = ig.shared(ig.{type}, 64)
    t = ig.lid()
    i = ig.group_id() * 64 + t
    local[t] = x[i] if i < len(x) else ig.{type}(0)
    ig.barrier()
    if t < len(bins):
        ig.atomic_add(bins, t, local[63 - t])
"""
TYPES: dict[str, Any] = {"i32": np.int32, "u32": np.uint32, "i64": np.int64, "w32": np.uint32, "u64": np.uint64}


def _in_turn(text: str) -> bool:
    facts = LaunchFacts(small=True)
    better = optimise(stages_of(kernel(text), (), wide=False).built, frozenset(), facts, {})
    return emit_cuda(lower(better, facts), cuda_target((9, 0)), {}).in_turn


@pytest.mark.parametrize("type", TYPES)
def test_totals(type: str) -> None:
    """Three blocks run eleven groups; sums go up and down, and some registers fill on the way."""
    generator = np.random.default_rng(1)
    info = np.iinfo(TYPES[type])
    text = SUMS.format(type=type)
    assert _in_turn(text)
    for high in (9, int(info.max) // 4, int(info.max)):
        low = -high if info.min < 0 else 0
        x = generator.integers(low, high, 11 * 64 - 5, dtype=TYPES[type], endpoint=True)
        for start, size in ((0, 1), (0, 64), (int(info.max) - 3, 40), (int(info.min), 64)):
            agree(kernel(text), "simulated", x, np.full(size, start, TYPES[type]))


def test_a_full_register_goes_to_memory_first() -> None:
    """Every group adds nearly all that the type holds, up and down by turns: the total is small."""
    x = np.repeat(np.array([2**31 - 1, -(2**31) + 2] * 6, np.int32), 64)
    words, (_, bins) = agree(kernel(SUMS.format(type="i32")), "simulated", x, np.zeros(64, np.int32))
    assert not words and (bins == 6).all()


TWO = """
@ig.kernel(grid=N, block=32)
def k(x: ig.In[ig.i32, N], bins: ig.InOut[ig.i32, Literal[40]], rest: ig.InOut[ig.i64, Literal[1]]) -> None:
    i = ig.gid()
    if ig.lid() == 3:
        ig.atomic_add(rest, 0, ig.i64(ig.group_id()))
    ig.barrier()
    if i < len(x):
        ig.atomic_add(bins, ig.lid() + 8, x[i])
    else:
        ig.atomic_add(bins, ig.lid(), 1)
"""


def test_two_ways_to_one_array_and_another() -> None:
    assert _in_turn(TWO)
    x = np.random.default_rng(2).integers(-9, 9, 32 * 9 + 5, dtype=np.int32)
    agree(kernel(TWO), "simulated", x, np.arange(40, dtype=np.int32), np.zeros(1, np.int64))


APART = {
    "a trap": "    assert x[i] > -10, 'no'\n    ig.barrier()\n    ig.atomic_add(bins, t, x[i])",
    "elements of the group": "    ig.barrier()\n    ig.atomic_add(bins, ig.group_id() % 64, x[i])",
    "another access": "    ig.barrier()\n    ig.atomic_add(bins, t, x[i])\n    ig.atomic_add(bins, x[i] & 63, 1)",
    "several times": "    ig.barrier()\n    for n in range(x[0] & 3):\n        ig.atomic_add(bins, t, n)",
}


@pytest.mark.parametrize("why", APART)
def test_groups_stay_apart(why: str) -> None:
    text = f"""
@ig.kernel(groups=ig.cdiv(N, 64), block=64)
def k(x: ig.In[ig.i32, N], bins: ig.InOut[ig.i32, Literal[64]]) -> None:
    t = ig.lid()
    i = min(ig.group_id() * 64 + t, len(x) - 1)
{APART[why]}
"""
    assert not _in_turn(text)
    agree(kernel(text), "simulated", np.arange(500, dtype=np.int32), np.zeros(64, np.int32))
