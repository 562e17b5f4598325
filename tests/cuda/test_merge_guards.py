"""Guards that are asked together: the same results at every edge, and nothing is merged that must not be."""

from typing import Any

import numpy as np
import pytest

from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cuda.merge_guards import merge_guards
from isogrid.cli.stages import stages_of
from isogrid.ir import device as d
from isogrid.ir.walk import visit
from isogrid.lowering.name_assignments import name_assignments
from isogrid.pipeline import lower, optimise
from tests.conformance.support import agree, kernel

COUNTED = """
@ig.kernel(groups=ig.cdiv(N, 96), block=32)
def k(x: ig.In[ig.i32, N], y: ig.{access}[ig.i32, N]) -> None:
    s = ig.shared(ig.i32, 32)
    t = ig.lid()
    first = ig.group_id() * 96 + t
    ig.barrier()
    for n in range(3):
        i = first + n * 32
        if i < len(x):
            {body}
    ig.barrier()
    if first < len(x):
        y[first] = s[31 - t]
"""


def _merged(text: str) -> int:
    """How many guards of a kernel hold for several at once."""
    facts = LaunchFacts(small=True)
    device = lower(optimise(stages_of(kernel(text), (), wide=False).built, frozenset(), facts, {}), facts)
    found = merge_guards(name_assignments(device))
    return sum(isinstance(n, d.If) and len(n.otherwise) == 3 for n in visit(found.body))


@pytest.mark.parametrize("size", [1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 160, 192])
def test_edges(size: int) -> None:
    text = COUNTED.format(access="Out", body="ig.atomic_add(s, x[i] & 31, 1)")
    assert _merged(text) == 1
    x = np.random.default_rng(size).integers(-99, 99, size, dtype=np.int32)
    agree(kernel(text), "simulated", x, np.zeros_like(x))


def test_in_equal_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many for one are asked in two pieces, not left apart."""
    monkeypatch.setattr("isogrid.backends.cuda.merge_guards._MOST_GUARDS", 5)
    text = COUNTED.format(access="Out", body="ig.atomic_add(s, x[i] & 31, 1)")
    text = text.replace("96", "192").replace("range(3)", "range(6)")
    assert _merged(text) == 2
    monkeypatch.setattr("isogrid.backends.cuda.merge_guards._MOST_GUARDS", 64)
    monkeypatch.setattr("isogrid.backends.cuda.merge_guards._MOST_NODES", 60)
    assert _merged(text) == 2
    x = np.arange(191, dtype=np.int32)
    agree(kernel(text), "simulated", x, np.zeros_like(x))


APART: dict[str, Any] = {
    "it reads what it writes": ("InOut", "y[i] = y[i] + 1"),
    "it may trap": ("Out", "ig.atomic_add(s, x[i], 1)"),
    "a sum of the array": ("InOut", "ig.atomic_add(y, i, x[i])"),
}


@pytest.mark.parametrize("why", APART)
def test_apart(why: str) -> None:
    access, body = APART[why]
    if why == "a sum of the array":
        text = COUNTED.format(access=access, body=body).replace("y[first] = s[31 - t]", "ig.atomic_add(y, first, s[t])")
    else:
        text = COUNTED.format(access=access, body=body)
    assert _merged(text) == 0
    for size in (64, 97):
        x = np.arange(size, dtype=np.int32) % 32
        agree(kernel(text), "simulated", x, np.zeros_like(x))
