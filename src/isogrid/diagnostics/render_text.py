"""Reports as text for people: the author's lines with carets, one clause of why, the facts, and the remedy as a diff.

    error[IG104]: `+` mixes i32 and f32
     --> saxpy.py:9:12
      |
    9 |     y[i] = n + x[i]
      |            ^^^^^^^^ i32 + f32
      |
      = more: isogrid explain IG104

Pure: the text depends on the reports, the source lines and the arguments only. Callers decide about colour.
"""

import linecache
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from isogrid.diagnostics.edits import diff_lines
from isogrid.diagnostics.layout import caret_rows, display, marked_lines
from isogrid.diagnostics.report import HEADINGS, Edit, Label, Remedy, Report, Severity
from isogrid.diagnostics.span import NOWHERE

#: Gives the lines of a file without their ends; empty when there is no source.
SourceReader = Callable[[str], Sequence[str]]


def read_source(file: str) -> Sequence[str]:
    """Lines of a file, a notebook cell or anything else that `linecache` knows."""
    return [line.rstrip("\r\n") for line in linecache.getlines(file)]


def render_reports(
    reports: Sequence[Report],
    *,
    root: Path | str | None = None,
    color: bool = False,
    source: SourceReader = read_source,
) -> str:
    """All reports, a blank line between two; file names below `root` are shown relative to it."""
    page = _Page(_Paint(color), None if root is None else Path(root), source)
    return "\n".join(page.report(report) for report in reports)


@dataclass(frozen=True, slots=True)
class _Paint:
    """Colours, or none."""

    on: bool

    def __call__(self, style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.on and text.strip() else text


_STYLES = {"error": "1;31", "warning": "1;33", "note": "1;36", "bold": "1", "gutter": "1;34", "+": "32", "-": "31"}


@dataclass(frozen=True, slots=True)
class _Page:
    paint: _Paint
    root: Path | None
    source: SourceReader

    def report(self, report: Report) -> str:
        width = self._gutter_width(report)
        out = [self._headline(report)]
        out += self._snippets(report, width)
        if report.why:
            out += self._item(width, "why", report.why)
        out += self._facts(report, width)
        for remedy in report.remedies:
            out += self._remedy(remedy, report, width)
        if report.code:
            out += self._item(width, "more", f"isogrid explain {report.code}")
        return "\n".join(line.rstrip() for line in out) + "\n"

    def _headline(self, report: Report) -> str:
        name = report.severity.value
        kind = f"{name}[{report.code}]" if report.code else name
        return self.paint(name, kind) + self.paint("bold", f": {report.title}")

    def _snippets(self, report: Report, width: int) -> list[str]:
        labels = [report.primary, *report.secondary]
        if report.primary.span == NOWHERE:
            return [f"{' ' * width} = note: {label.text}" for label in labels if label.text]
        out: list[str] = []
        files = dict.fromkeys(label.span.file for label in labels)
        for file in files:
            here = [label for label in labels if label.span.file == file and label.span != NOWHERE]
            if not here:
                continue
            arrow = "-->" if file == report.primary.span.file else ":::"
            span = here[0].span
            place = f"{self._shown(file)}:{span.line}:{span.column}"
            out.append(" " * width + self.paint("gutter", arrow) + f" {place}")
            out += self._snippet(here, report, width)
        return out

    def _snippet(self, labels: Sequence[Label], report: Report, width: int) -> list[str]:
        lines = self.source(labels[0].span.file)
        known = [label for label in labels if 1 <= label.span.line <= len(lines)]
        unknown = [label for label in labels if label not in known]
        style = report.severity.value
        bar = self._bar(width)
        out = [bar]
        previous: int | None = None
        for number, marks in marked_lines(known, report.primary, lines).items():
            if previous is not None and number - previous == 2:
                out.append(self._line(width, str(number - 1), lines[number - 2]))
            elif previous is not None and number - previous > 2:
                out.append(self.paint("gutter", "..."))
            out.append(self._line(width, str(number), lines[number - 1]))
            for row in caret_rows(marks):
                out.append(f"{bar} " + "".join(self.paint(style if first else "gutter", text) for text, first in row))
            previous = number
        for label in unknown:
            text = f": {label.text}" if label.text else ""
            out.append(f"{bar} line {label.span.line}, column {label.span.column} (source not available){text}")
        out.append(bar)
        return out

    def _facts(self, report: Report, width: int) -> list[str]:
        """Rows as a table; a row of `HEADINGS` is the heading, a row without a name heads the columns."""
        rows = [row for row in report.facts if row[0] not in HEADINGS]
        headings = [(name, " ".join(cells)) for name, cells in report.facts if name in HEADINGS]
        if not report.facts:
            return []
        out = self._item(width, *headings[0]) if headings else [f"{' ' * width} = facts:"]
        if not rows:
            return out
        name_width = max(len(name) for name, _ in rows) + 4
        columns = max(len(cells) for _, cells in rows)
        widths = [max((len(cells[c]) for _, cells in rows if c < len(cells)), default=0) + 3 for c in range(columns)]
        for name, cells in rows:
            padded = "".join(cell.ljust(w) for cell, w in zip(cells, widths, strict=False))
            out.append(" " * (width + 5) + name.ljust(name_width) + padded)
        return out

    def _remedy(self, remedy: Remedy, report: Report, width: int) -> list[str]:
        out = self._item(width, "remedy", remedy.text)
        by_file: dict[str, list[Edit]] = {}
        for edit in remedy.edits:
            by_file.setdefault(edit.span.file, []).append(edit)
        for file, edits in by_file.items():
            lines = self.source(file)
            if not lines:
                continue
            if file != report.primary.span.file:
                out.append(" " * width + self.paint("gutter", ":::") + f" {self._shown(file)}")
            for hunk in diff_lines(lines, edits):
                out.append(self._bar(width))
                for line in hunk:
                    sign = str(line.number) if line.mark == " " else line.mark
                    out.append(self._line(width, sign, line.text, line.mark))
            out.append(self._bar(width))
        return out

    def _item(self, width: int, name: str, text: str) -> list[str]:
        first, *rest = text.split("\n")
        margin = " " * (width + 3 + len(name) + 2)
        head = f"{' ' * width} {self.paint('gutter', '=')} {self.paint('bold', name)}: {first}"
        return [head, *(f"{margin}{line}" for line in rest)]

    def _line(self, width: int, sign: str, text: str, mark: str = " ") -> str:
        shown = display(text)
        body = shown if mark == " " else self.paint(mark, shown)
        return self.paint("gutter", f"{sign.rjust(width)} |") + f" {body}"

    def _bar(self, width: int) -> str:
        return self.paint("gutter", " " * width + " |")

    def _shown(self, file: str) -> str:
        if self.root is None:
            return file
        path = Path(file)
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else file

    def _gutter_width(self, report: Report) -> int:
        numbers = [label.span.end_line for label in (report.primary, *report.secondary)]
        numbers += [edit.span.end_line for remedy in report.remedies for edit in remedy.edits]
        return len(str(max(numbers)))


def summary(reports: Sequence[Report]) -> str:
    """One line of counts: `2 errors, 1 warning`, or the empty string when there is nothing to count."""
    counts = [(sum(r.severity is severity for r in reports), severity.value) for severity in Severity]
    return ", ".join(f"{n} {name}{'' if n == 1 else 's'}" for n, name in counts if n)
