"""Kernels written to mislead the proof. Each says on its `def` line what it is: `# safe` must be accepted, `# unsafe`
refused, and `# not proved` is safe but beyond the proof; one that is accepted must be safe in every launch."""

import random
import re
from pathlib import Path

import pytest

from isogrid.pipeline import check_kernel
from tests.mutation.bases import built, kernels_in
from tests.mutation.oracle import truth

FILES = sorted((Path(__file__).parent / "attacks").glob("*.py"))
MARK = re.compile(r"^def (\w+)\((?:(?!^def ).)*?\) -> None:  # (safe|unsafe|not proved)$", re.MULTILINE | re.DOTALL)


def marks_of(file: Path) -> dict[str, str]:
    return dict(MARK.findall(file.read_text()))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_attack_gets_through(file: Path) -> None:
    marks = marks_of(file)
    kernels = kernels_in(file)
    assert {kernel.definition.name for kernel in kernels} == set(marks)
    for kernel in kernels:
        name = kernel.definition.name
        program = built(kernel)
        accepted = check_kernel(program) == []
        assert accepted is (marks[name] == "safe") or marks[name] == "not proved", name
        if accepted:
            found = truth(program, random.Random(name), 8, accepted=True)
            assert not found.unsafe and not found.false_claim and found.ran, (name, found)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_unsafe_ones_are_unsafe(file: Path) -> None:
    marks = marks_of(file)
    for kernel in kernels_in(file):
        if marks[kernel.definition.name] == "unsafe":
            assert truth(built(kernel), random.Random(kernel.definition.name), 60, accepted=False).unsafe, kernel


def test_no_counterexample_takes_a_trip_that_no_thread_takes() -> None:
    kernels = {kernel.definition.name: kernel for kernel in kernels_in(FILES[0].parent / "loops.py")}
    assert [r.code for r in check_kernel(built(kernels["step_of_one_trip"]))] == ["IG202"]
    assert [r.code for r in check_kernel(built(kernels["step_of_some_trips"]))] == ["IG201"]
