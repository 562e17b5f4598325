"""A reader who sees nothing but the text of a refusal names the two threads, makes the change that it shows, and has a
kernel that is accepted."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from isogrid.pipeline import check_kernel
from tests.mutation.bases import built, kernels_in
from tests.refusals.test_refusals import without_marks

from .test_refused import CASES

FULL_LINE = re.compile(r"^ *(\d+) \| (.*)$")
CHANGED_LINE = re.compile(r"^ *([+-]) \| (.*)$")


@dataclass(frozen=True, slots=True)
class Understood:
    """What a reader takes from one refusal: two threads, the element, and lines to remove and to add."""

    threads: tuple[str, str]
    element: str
    line: int
    after: int | None
    removed: tuple[str, ...]
    added: tuple[str, ...]


def understand(text: str) -> Understood:
    """Read one report as an author would: from top to bottom, by its words."""
    lines = text.splitlines()
    title = re.match(r"error\[IG20\d\]: two threads touch `(.*?)`", lines[0])
    assert title is not None, lines[0]
    place = next(re.match(r" *--> .*:(\d+):\d+$", line) for line in lines if "-->" in line)
    assert place is not None
    heading = next(n for n, line in enumerate(lines) if "= counterexample:" in line)
    threads = re.split(r" {2,}", lines[heading + 1].strip())
    assert len(threads) == 2
    remedy = next(n for n, line in enumerate(lines) if "= remedy:" in line)
    after, removed, added = None, list[str](), list[str]()
    for line in lines[remedy + 1 :]:
        changed, context = CHANGED_LINE.match(line), FULL_LINE.match(line)
        if changed is not None:
            (added if changed.group(1) == "+" else removed).append(changed.group(2))
        elif context is not None and not added:
            after = int(context.group(1))
        elif added:
            break
    return Understood(
        (threads[0], threads[1]), title.group(1), int(place.group(1)), after, tuple(removed), tuple(added)
    )


def mended(source: str, change: Understood) -> str:
    """The source after the change; a line to remove is looked for near the place of the report."""
    lines = source.splitlines()
    at = change.after
    if change.removed:
        places = [n for n in range(len(lines)) if tuple(lines[n : n + len(change.removed)]) == change.removed]
        at = min(places, key=lambda n: abs(n + 1 - change.line))
        del lines[at : at + len(change.removed)]
    assert at is not None
    lines[at:at] = change.added
    return "\n".join(lines) + "\n"


def text_of(case: Path) -> str:
    return case.with_suffix(".expected.txt").read_text()


READABLE = [
    case
    for case in CASES
    if text_of(case).count("error[") == 1 and "\n + |" in text_of(case) and "IG201" in text_of(case)
]


@pytest.mark.parametrize("case", READABLE, ids=lambda case: case.stem)
def test_a_reader_mends_the_kernel(case: Path, tmp_path: Path) -> None:
    change = understand(text_of(case))
    first, second = change.threads
    assert first != second
    assert all(name.startswith("thread ") and text_of(case).count(name) >= 2 for name in change.threads)
    assert text_of(case).count(change.element) >= 3
    copy = tmp_path / case.name
    copy.write_text(mended(without_marks(case.read_text()), change))
    kernels = kernels_in(copy)
    assert kernels
    for kernel in kernels:
        assert check_kernel(built(kernel)) == []


def test_there_are_enough_to_read() -> None:
    assert len(READABLE) >= 10
    assert sum("\n - |" in text_of(case) for case in READABLE) >= 2
