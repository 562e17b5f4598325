"""Apply the edits of a remedy to text, and show them as the few lines that change."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from isogrid.diagnostics.report import Edit


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a small diff: `mark` is "+", "-" or " ", and `number` that of the old text (None for "+")."""

    mark: str
    number: int | None
    text: str


def apply_edits(lines: Sequence[str], edits: Iterable[Edit]) -> list[str]:
    """The lines (without their ends) with all edits of this file made. Overlapping edits raise ValueError.

    >>> apply_edits(["a = 1"], [Edit(Span("f", 1, 5, 1, 6), "2")])
    ['a = 2']
    """
    text = "\n".join(lines)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(line: int, column: int) -> int:
        return min(starts[min(line, len(starts)) - 1] + column - 1, len(text) + 1)

    ordered = sorted(edits, key=lambda e: (e.span.line, e.span.column, e.span.end_line, e.span.end_column))
    for first, second in pairwise(ordered):
        if (second.span.line, second.span.column) < (first.span.end_line, first.span.end_column):
            raise ValueError(f"two edits overlap at {second.span}")
    # Text after the last line: an insertion there needs the line end that joining left out.
    text += "\n"
    for edit in reversed(ordered):
        start = offset(edit.span.line, edit.span.column)
        end = offset(edit.span.end_line, edit.span.end_column)
        text = text[:start] + edit.text + text[end:]
    return text.removesuffix("\n").split("\n")


def diff_lines(lines: Sequence[str], edits: Sequence[Edit]) -> list[list[DiffLine]]:
    """The places that the edits change, each as a few lines: removed, added, and the line above an insertion."""
    new = apply_edits(lines, edits)
    hunks: list[list[DiffLine]] = []
    for tag, old_start, old_end, new_start, new_end in SequenceMatcher(None, lines, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        hunk: list[DiffLine] = []
        if old_start == old_end and old_start > 0:
            hunk.append(DiffLine(" ", old_start, lines[old_start - 1]))
        hunk += [DiffLine("-", n + 1, lines[n]) for n in range(old_start, old_end)]
        hunk += [DiffLine("+", None, line) for line in new[new_start:new_end]]
        if old_start == old_end == 0 and lines:
            hunk.append(DiffLine(" ", 1, lines[0]))
        hunks.append(hunk)
    return hunks
