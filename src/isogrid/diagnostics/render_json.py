"""Reports as JSON for editors and CI: the same data as the text, nothing rendered."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isogrid.diagnostics.report import Label, Report
from isogrid.diagnostics.span import Span

#: Raised when a key changes its meaning or goes away; new keys do not raise it.
SCHEMA_VERSION = 1


def render_json(reports: Sequence[Report], *, root: Path | str | None = None) -> str:
    """An object with `version` and `reports`, indented, keys in a fixed order."""
    data = {"version": SCHEMA_VERSION, "reports": [report_data(report, root=root) for report in reports]}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def report_data(report: Report, *, root: Path | str | None = None) -> dict[str, Any]:
    """One report as plain dicts, lists and strings. Columns count characters from 1, ends are exclusive."""
    base = None if root is None else Path(root)
    return {
        "code": report.code,
        "severity": report.severity.value,
        "title": report.title,
        "kernel": report.kernel,
        "primary": _label(report.primary, base),
        "secondary": [_label(label, base) for label in report.secondary],
        "why": report.why,
        "facts": [{"name": name, "values": list(values)} for name, values in report.facts],
        "remedies": [
            {
                "text": remedy.text,
                "edits": [{"span": _span(edit.span, base), "text": edit.text} for edit in remedy.edits],
            }
            for remedy in report.remedies
        ],
    }


def _label(label: Label, root: Path | None) -> dict[str, Any]:
    return {"span": _span(label.span, root), "text": label.text}


def _span(span: Span, root: Path | None) -> dict[str, Any]:
    path = Path(span.file)
    inside = root is not None and path.is_relative_to(root)
    return {
        "file": path.relative_to(root).as_posix() if inside and root is not None else span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }
