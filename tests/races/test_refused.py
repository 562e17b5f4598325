"""Every refusal of the race check: marked lines, exact text, and each counterexample run on the interpreter."""

from collections import Counter
from pathlib import Path

import pytest

from isogrid.checks.races import check_races
from isogrid.diagnostics.render_text import render_reports
from isogrid.diagnostics.report import Report
from isogrid.ir import kernel as k
from tests.mutation.bases import built, kernels_in
from tests.refusals.test_refusals import marks_in, without_marks

from .replay import replays

FOLDER = Path(__file__).parent.parent / "refusals" / "races"
CASES = sorted(FOLDER.glob("*.py"))


def reports_of(case: Path) -> list[tuple[k.Kernel, Report]]:
    kernels = [built(kernel) for kernel in kernels_in(case)]
    assert kernels
    return [(kernel, report) for kernel in kernels for report in check_races(kernel)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_refused(case: Path, update: bool) -> None:
    found = reports_of(case)
    reports = [report for _, report in found]
    text = without_marks(render_reports(reports, root=case.parent)) + "\n"
    expected = case.with_suffix(".expected.txt")
    if update:
        expected.write_text(text)
    assert marks_in(case) == Counter((report.primary.span.line, report.code) for report in reports)
    assert text == expected.read_text()
    for kernel, report in found:
        assert report.code != "IG201" or replays(kernel, report), "the counterexample does not race"


def test_there_are_enough() -> None:
    """Races alone; `tests/refusals/barriers` and `tests/refusals/failures` come on top."""
    codes = Counter(code for case in CASES for _, code in marks_in(case))
    assert len(CASES) >= 80
    assert codes["IG201"] >= 70
