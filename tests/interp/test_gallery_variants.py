"""Every gallery launch on the interpreter, four ways: as written, after all passes, and the device IR of both.

The interpreter verifies each proof that a pass claims, and finds races and divergence in the author's own kernels.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isogrid import pipeline
from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.interp.device import run_device
from isogrid.backends.interp.launch import Outcome, run, run_program
from isogrid.backends.interp.program import Program
from isogrid.backends.interp.runtime import InterpRuntime
from isogrid.runtimes.protocol import BoundLaunch

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
import gallery  # noqa: E402

#: One size of each, around one block where the example has blocks; the property tests vary sizes.
CASES = [(example.name, sorted(example.sizes)[2]) for example in gallery.all_examples()]


def compare(artifact: Program, bound: BoundLaunch) -> None:
    before = {name: a.copy() for name, a in bound.arrays.items()}
    outcome = run_program(artifact, bound)
    assert outcome == Outcome()
    after = {name: a.copy() for name, a in bound.arrays.items()}
    facts = LaunchFacts()
    kernel = artifact.kernel
    optimised = pipeline.optimise(kernel, frozenset(), facts, {})
    variants = {
        "optimised": lambda: run(optimised, bound, detect_races=False),
        "lowered": lambda: run_device(pipeline.lower(kernel, facts), bound),
        "optimised and lowered": lambda: run_device(pipeline.lower(optimised, facts), bound),
    }
    for variant, launch in variants.items():
        for name, a in bound.arrays.items():
            a[...] = before[name]
        assert launch() == Outcome(), variant
        for name, a in bound.arrays.items():
            assert np.array_equal(gallery.canonical(a), gallery.canonical(after[name])), (variant, name)


@pytest.fixture
def four_ways(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Replace what the `interp` device does at a launch."""
    launched: list[str] = []

    def launch(self: InterpRuntime, artifact: Program, bound: BoundLaunch) -> None:
        launched.append(artifact.kernel.name)
        compare(artifact, bound)

    monkeypatch.setattr(InterpRuntime, "launch", launch)
    yield launched


@pytest.mark.parametrize(("name", "size"), CASES)
def test_every_variant_agrees(name: str, size: int, four_ways: list[str]) -> None:
    example: Any = gallery.load(name)
    inputs = example.make_inputs(size, 1)
    outputs = example.run(inputs, "interp")
    assert four_ways
    assert example.complaint(inputs, outputs, example.reference(inputs)) == ""
