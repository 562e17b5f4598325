"""What is refused because it always fails does fail: some launch traps at the marked place, and with that exception."""

import random
from pathlib import Path

import pytest

import isogrid as ig
from isogrid.backends.interp.launch import run
from tests.mutation import oracle
from tests.mutation.bases import built, kernels_in
from tests.refusals.test_refusals import marks_in

FOLDER = Path(__file__).parent.parent / "refusals" / "failures"
KINDS = {
    "IG401": ig.KernelIndexError,
    "IG402": ig.KernelOverflowError,
    "IG403": ig.KernelZeroDivisionError,
    "IG404": ig.KernelValueError,
    "IG405": ig.KernelValueError,
    "IG406": ig.KernelValueError,
    "IG407": ig.KernelOverflowError,
    "IG408": ig.KernelValueError,
}
CASES = sorted(case for case in FOLDER.glob("*.py") if {code for _, code in marks_in(case)} <= set(KINDS))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_it_traps(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "_MOST_THREADS", 64)
    rng = random.Random(case.stem)
    seen: list[ig.Trap] = []
    for kernel in map(built, kernels_in(case)):
        seen += [trap for bound in oracle.launches(kernel, rng, 10) if (trap := run(kernel, bound).trap) is not None]
    for line, code in marks_in(case):
        assert any(isinstance(trap, KINDS[code]) and f"{case.name}:{line}:" in str(trap) for trap in seen), code
