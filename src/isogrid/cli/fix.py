"""Write the certain remedies of reports into the files that they are about."""

from collections.abc import Sequence
from pathlib import Path

from isogrid.diagnostics.edits import apply_edits
from isogrid.diagnostics.report import Edit, Remedy, Report


def apply_fixes(reports: Sequence[Report]) -> int:
    """Apply the first certain remedy of each report, all or nothing; a remedy that overlaps an earlier one waits for
    the next run. Returns how many were applied."""
    chosen: dict[str, list[Edit]] = {}
    applied = 0
    for remedy in filter(None, map(_certain, reports)):
        wanted = {edit.span.file for edit in remedy.edits}
        if any(_overlap(edit, other) for edit in remedy.edits for other in chosen.get(edit.span.file, ())):
            continue
        if not all(Path(file).is_file() for file in wanted):
            continue
        for edit in remedy.edits:
            chosen.setdefault(edit.span.file, []).append(edit)
        applied += 1
    for file, edits in chosen.items():
        _rewrite(Path(file), edits)
    return applied


def _certain(report: Report) -> Remedy | None:
    return next((remedy for remedy in report.remedies if remedy.edits), None)


def _overlap(one: Edit, other: Edit) -> bool:
    """Whether two edits touch the same text; two insertions at one point do."""
    if one == other:
        return True
    start, end = (one.span.line, one.span.column), (one.span.end_line, one.span.end_column)
    other_start = (other.span.line, other.span.column)
    other_end = (other.span.end_line, other.span.end_column)
    if start == end or other_start == other_end:
        return start <= other_end and other_start <= end
    return start < other_end and other_start < end


def _rewrite(path: Path, edits: Sequence[Edit]) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        text = file.read()
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.replace("\r\n", "\n").split("\n")
    changed = newline.join(apply_edits(lines, edits))
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(changed)
