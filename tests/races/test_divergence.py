"""Refused barriers are refused for something: a launch in which threads of one group, or warp, miss each other."""

import random
from pathlib import Path

import pytest

from isogrid.backends.interp.findings import Divergence
from tests.mutation import oracle
from tests.mutation.bases import built, kernels_in

FOLDER = Path(__file__).parent.parent / "refusals" / "barriers"
#: Refused for the shape of the group, which nothing can be run with.
UNRUNNABLE = {"block_of_part_warps"}
CASES = sorted(case for case in FOLDER.glob("*.py") if case.stem not in UNRUNNABLE)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_threads_really_miss_the_barrier(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "_MOST_THREADS", 256)
    # Long enough for a whole group, so that not every thread traps before it gets to the barrier.
    monkeypatch.setattr(oracle, "_SIZES", (64, 256, 300, 3, 8))
    for kernel in kernels_in(case):
        found = oracle.truth(built(kernel), random.Random(case.stem), 40, accepted=False)
        assert isinstance(found.finding, Divergence), (kernel, found)
