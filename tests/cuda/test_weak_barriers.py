"""Barriers that one warp alone needs: which ones become barriers of a warp, and that results stay the interpreter's."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from isogrid import pipeline
from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cuda.weak_barriers import weaken_barriers
from isogrid.cli.stages import stages_of
from isogrid.ir import device as d
from isogrid.ir.walk import visit
from tests.conformance.support import agree, kernel

TREE = """
@ig.kernel(groups=ig.cdiv(N, 256), block=256)
def k(x: ig.In[ig.f32, N], sums: ig.InOut[ig.f32, G]) -> None:
    tile = ig.shared(ig.f32, 256)
    t = ig.lid()
    group = ig.group_id()
    i = group * 256 + t
    tile[t] = x[i] if i < len(x) else 0.0
    ig.barrier()
    for level in range(8):
        half = 128 >> level
        if t < half:
            tile[t] += tile[t + half]
        ig.barrier()
    if t == 0 and group < len(sums):
        sums[group] = tile[0]
"""


def device(text: str) -> d.Kernel:
    facts = LaunchFacts(small=True)
    built = stages_of(kernel(text), (), wide=False).built
    return pipeline.lower(pipeline.optimise(built, frozenset(), facts, {}), facts)


def test_the_last_levels_need_one_warp() -> None:
    before = device(TREE)
    after = weaken_barriers(before)
    assert (count(before, d.Barrier), count(before, d.WarpBarrier)) == (9, 0)
    assert (count(after, d.Barrier), count(after, d.WarpBarrier)) == (3, 6)


def count(found: d.Kernel, kind: Any) -> int:
    return sum(isinstance(node, kind) for node in visit(found.body))


@pytest.mark.parametrize("size", [1, 256, 700])
def test_results_agree(size: int) -> None:
    x = np.random.default_rng(size).random(size, np.float32)
    agree(kernel(TREE), "simulated", x, np.zeros(-(-size // 256), np.float32))


def _tree(*levels: d.Statement | tuple[d.Statement, ...]) -> d.Kernel:
    """The kernel with other statements between its last barriers."""
    whole = device(TREE)
    body: list[d.Statement] = []
    for level in levels:
        body += [*(level if isinstance(level, tuple) else (level,)), d.Barrier()]
    return replace(whole, body=tuple(body[:-1]))


PLACE = d.Special("local", 0)
ELEMENT = d.Load("tile", PLACE, d.Machine.F32)


def under(op: str, bound: int, place: d.Expr = PLACE, otherwise: d.Block = ()) -> d.If:
    """A level of the tree that threads below a bound take part in."""
    condition = d.Op(op, (place, d.Literal(bound, d.Machine.I64)), d.Machine.I1)
    return d.If(condition, (d.Store("tile", PLACE, ELEMENT),), otherwise)


@pytest.mark.parametrize(
    ("second", "weak"),
    [
        (under("slt", 32), 1),
        (under("sle", 31), 1),
        (under("ieq", 31), 1),
        (d.Let("nothing", d.Literal(1, d.Machine.I64)), 1),
        (under("slt", 33), 0),
        (under("sle", 32), 0),
        (under("ieq", 32), 0),
        (under("slt", 8, d.Special("thread", 0)), 0),
        (under("slt", 8, otherwise=(d.Store("tile", PLACE, ELEMENT),)), 0),
        (d.Let("late", ELEMENT), 0),
        (d.Store("sums", PLACE, d.Literal(0, d.Machine.F32)), 0),
    ],
)
def test_where_one_warp_is_enough(second: d.Statement, weak: int) -> None:
    assert count(weaken_barriers(_tree(under("slt", 16), second)), d.WarpBarrier) == weak
    assert count(weaken_barriers(_tree(second, under("slt", 16))), d.WarpBarrier) == weak
