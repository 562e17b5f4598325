"""Every code that the compiler may report has a page and a test that shows its text; no page is left over."""

import ast
import re
from functools import cache

from tests.architecture.source import PACKAGE, ROOT, modules

from isogrid.diagnostics.codes import all_pages
from isogrid.pipeline import CHECKS

CODE = re.compile(r"IG\d{3,4}")
#: Codes that no file can show, with the reason.
NOT_IN_A_CASE = {
    "IG170": "needs a function whose source is missing",
    "IG171": "needs a file that changes after it was imported",
    "IG503": "is about an option, before any kernel is read",
}
#: Codes of checks that do not run yet; each becomes due when `pipeline.CHECKS` lists the check.
OF_A_CHECK = {"IG201": "races", "IG202": "races", "IG203": "races"}


@cache
def reported() -> dict[str, str]:
    """Codes in the source outside pages and docstrings, with a file that has each."""
    found: dict[str, str] = {}
    for path, tree in modules():
        if path.name.startswith("codes") or path.parent.name == "cli":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
                found.setdefault(node.value, str(path.relative_to(PACKAGE)))
    return found


def test_every_reported_code_has_a_page() -> None:
    missing = {code: file for code, file in reported().items() if code not in all_pages()}
    assert missing == {}


def test_every_page_is_of_a_code_that_is_reported() -> None:
    assert sorted(set(all_pages()) - set(reported())) == []


def test_every_code_is_shown_by_a_refusal_case() -> None:
    texts = "\n".join(path.read_text() for path in (ROOT / "tests" / "refusals").rglob("*.expected.txt"))
    shown = set(re.findall(r"(?:error|warning|note)\[(IG\d+)\]", texts))
    running = {name for name, *_ in CHECKS}
    waiting = {code for code, check in OF_A_CHECK.items() if check not in running}
    assert sorted(set(reported()) - shown - set(NOT_IN_A_CASE) - waiting) == []


def test_expected_texts_are_at_least_sixty() -> None:
    assert len(list((ROOT / "tests" / "refusals").rglob("*.expected.txt"))) >= 60


def test_titles_in_expected_texts_stand_alone() -> None:
    """A title names the remedy or the fault and is one line of moderate length, in plain present tense."""
    for path in (ROOT / "tests" / "refusals").rglob("*.expected.txt"):
        for title in re.findall(r"^(?:error|warning|note)\[IG\d+\]: (.*)$", path.read_text(), re.MULTILINE):
            assert len(title) <= 140, f"{path.name}: {title}"
            assert not title.endswith(".") or title.endswith("..."), f"{path.name}: {title}"
            assert not re.search(r"\b(?:please|sorry|you should|illegal|bad)\b", title, re.IGNORECASE), title
