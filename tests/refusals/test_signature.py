"""Every refusal of a signature or geometry, with the whole text that its author sees.

`pytest tests/refusals/test_signature.py --update` writes the expected texts; git diff is the review.
"""

import importlib.util
from pathlib import Path

import pytest

import isogrid as ig
from isogrid.diagnostics.render_text import render_reports

CASES = sorted((Path(__file__).parent / "signature").glob("*.py"))


def refusal_of(case: Path) -> ig.KernelRefused:
    spec = importlib.util.spec_from_file_location(f"refused_{case.stem}", case)
    assert spec is not None and spec.loader is not None
    with pytest.raises(ig.KernelRefused) as caught:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return caught.value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_refused(case: Path, update: bool) -> None:
    text = render_reports(refusal_of(case).reports, root=case.parent) + "\n"
    expected = case.with_suffix(".expected.txt")
    if update:
        expected.write_text(text)
    assert text == expected.read_text()


def test_there_are_cases_for_every_code() -> None:
    codes = {report.code for case in CASES for report in refusal_of(case).reports}
    assert codes == {f"IG{number}" for number in range(171, 191)}
