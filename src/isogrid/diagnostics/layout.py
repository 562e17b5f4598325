"""Source lines with carets: place the labels of a report under the author's text. Pure text work, no colour decisions.

8 |     tile[i] = x[g]
  |     ------- thread 1 writes tile[1]
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from isogrid.diagnostics.report import Label

#: Columns that a tab advances to a multiple of.
TAB_WIDTH = 4
#: Longest multi-line label that is shown whole; a longer one keeps its first and last line.
WHOLE_LINES = 4


@dataclass(frozen=True, slots=True)
class Mark:
    """A label's part on one line, in display columns from 0. `text` is empty on all but its last line."""

    start: int
    end: int
    text: str
    primary: bool

    @property
    def sign(self) -> str:
        return "^" if self.primary else "-"


def display(line: str) -> str:
    """The line as printed: tabs expanded, control characters made visible as spaces."""
    out: list[str] = []
    column = 0
    for character in line:
        if character == "\t":
            step = TAB_WIDTH - column % TAB_WIDTH
            out.append(" " * step)
            column += step
        else:
            out.append(character if character.isprintable() or _width(character) == 0 else " ")
            column += _width(character)
    return "".join(out)


def display_column(line: str, column: int) -> int:
    """Where the character at `column` (from 1) of the line starts on a terminal, from 0."""
    at = 0
    for character in line[: column - 1]:
        at += TAB_WIDTH - at % TAB_WIDTH if character == "\t" else _width(character)
    return at + max(0, column - 1 - len(line))


def marked_lines(labels: Sequence[Label], primary: Label, lines: Sequence[str]) -> dict[int, list[Mark]]:
    """For each line number to show, the marks under it."""
    marks: dict[int, list[Mark]] = {}
    for label in labels:
        for number, mark in _marks(label, label is primary, lines):
            marks.setdefault(number, []).append(mark)
    return dict(sorted(marks.items()))


def caret_rows(marks: Sequence[Mark]) -> list[list[tuple[str, bool]]]:
    """The rows under one source line; each row is pieces of (text, belongs to the primary label)."""
    ordered = sorted(marks, key=lambda m: (m.start, -m.end))
    rows = [_underline(ordered)]
    texts = [m for m in ordered if m.text]
    last = ordered[-1]
    if last.text and all(m.end <= last.start for m in ordered[:-1]):
        rows[0].append((f" {last.text}", last.primary))
        texts.remove(last)
    if texts:
        rows.append(_connectors(texts))
    while texts:
        mark = texts.pop()
        row = _connectors([m for m in texts if m.start < mark.start])
        used = sum(len(text) for text, _ in row)
        rows.append([*row, (" " * (mark.start - used) + mark.text, mark.primary)])
    return rows


def _marks(label: Label, primary: bool, lines: Sequence[str]) -> list[tuple[int, Mark]]:
    span = label.span
    last = max(span.line, min(span.end_line, len(lines)))
    numbers = [n for n in range(span.line, last + 1) if n in (span.line, last) or lines[n - 1].strip()]
    if len(numbers) > WHOLE_LINES:
        numbers = [span.line, last]
    found: list[tuple[int, Mark]] = []
    for number in numbers:
        line = lines[number - 1]
        first_column = span.column if number == span.line else len(line) - len(line.lstrip()) + 1
        end_column = span.end_column if number == span.end_line else len(line.rstrip()) + 1
        start = display_column(line, first_column)
        end = max(start + 1, display_column(line, end_column))
        found.append((number, Mark(start, end, label.text if number == last else "", primary)))
    return found


def _underline(marks: Sequence[Mark]) -> list[tuple[str, bool]]:
    """All the marks on one row; a narrow mark is drawn over a wide one, so that operands stay visible."""
    width = max(m.end for m in marks)
    cells: list[tuple[str, bool]] = [(" ", False)] * width
    for mark in sorted(marks, key=lambda m: (m.start - m.end, m.primary)):
        for column in range(mark.start, mark.end):
            cells[column] = (mark.sign, mark.primary)
    return _joined(cells)


def _connectors(marks: Sequence[Mark]) -> list[tuple[str, bool]]:
    if not marks:
        return []
    cells: list[tuple[str, bool]] = [(" ", False)] * (max(m.start for m in marks) + 1)
    for mark in marks:
        cells[mark.start] = ("|", mark.primary)
    return _joined(cells)


def _joined(cells: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]]:
    pieces: list[tuple[str, bool]] = []
    for text, primary in cells:
        if pieces and pieces[-1][1] == primary:
            pieces[-1] = (pieces[-1][0] + text, primary)
        else:
            pieces.append((text, primary))
    return pieces


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
