"""Every refusal of a body: the marked lines are the reported ones, and the text is what the author sees.

A case is a file with kernels. `# refuse: IG104` stands at the end of each line that a report points at; several codes
are separated by commas. `pytest tests/refusals --update` writes the expected texts; git diff is the review.
"""

import importlib.util
import re
from collections import Counter
from pathlib import Path

import pytest

from isogrid.diagnostics.codes import all_pages
from isogrid.diagnostics.render_text import render_reports
from isogrid.diagnostics.report import Report

HERE = Path(__file__).parent
#: These have tests of their own: refused when decorated, with counterexamples that are run, and by one target alone.
OTHERS = ("signature", "races", "targets", "__pycache__")
FOLDERS = sorted(f for f in HERE.iterdir() if f.is_dir() and f.name not in OTHERS)
CASES = [case for folder in FOLDERS for case in sorted(folder.glob("*.py"))]
MARK = re.compile(r"# refuse: (IG\d+(?:, IG\d+)*)\s*$")


def short_name(case: Path) -> str:
    return f"{case.parent.name}/{case.stem}"


def reports_of(case: Path) -> list[Report]:
    """What the kernels of a file are refused for, in the order of the text."""
    spec = importlib.util.spec_from_file_location(f"refused_{case.parent.name}_{case.stem}", case)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernels = [value for value in vars(module).values() if getattr(type(value), "__isogrid_kernel__", False)
        or getattr(type(value), "__isogrid_offloaded__", False)]
    assert kernels, f"{case.name} defines no kernel"
    return [report for kernel in kernels for report in kernel.check()]


def marks_in(case: Path) -> Counter[tuple[int, str]]:
    """Line and code of every mark."""
    found: Counter[tuple[int, str]] = Counter()
    for number, line in enumerate(case.read_text().splitlines(), 1):
        mark = MARK.search(line)
        if mark is not None:
            found.update((number, code) for code in mark.group(1).split(", "))
    return found


def without_marks(text: str) -> str:
    """The rendered text as an author without marks would see it."""
    return "\n".join(re.sub(r"\s*# refuse: .*$", "", line) for line in text.splitlines())


@pytest.mark.parametrize("case", CASES, ids=short_name)
def test_refused(case: Path, update: bool) -> None:
    reports = reports_of(case)
    assert marks_in(case) == Counter((report.primary.span.line, report.code) for report in reports)
    text = without_marks(render_reports(reports, root=case.parent)) + "\n"
    expected = case.with_suffix(".expected.txt")
    if update:
        expected.write_text(text)
    assert expected.exists(), f"{expected.name} is missing: run pytest --update"
    assert text == expected.read_text()


def test_every_case_has_a_text_and_every_text_a_case() -> None:
    texts = {path.name.removesuffix(".expected.txt") for f in FOLDERS for path in f.glob("*.expected.txt")}
    assert texts == {case.stem for case in CASES}


def test_every_code_of_the_language_has_a_case() -> None:
    codes = {code for case in CASES for _, code in marks_in(case)}
    missing = {code for code in all_pages() if "IG100" <= code <= "IG169"} - codes
    assert not missing


def test_every_reported_code_has_a_page() -> None:
    assert {code for case in CASES for _, code in marks_in(case)} <= set(all_pages())
