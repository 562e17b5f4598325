"""Reports as JSON carry everything that the text shows."""

import json

from isogrid.diagnostics.render_json import render_json
from isogrid.diagnostics.report import Edit, Label, Remedy, Report
from isogrid.diagnostics.span import Span


def test_every_field_survives_and_paths_are_relative() -> None:
    place = Span("/w/a.py", 2, 5, 2, 9)
    report = Report(
        "IG104",
        "`+` mixes types",
        Label(place, "here"),
        (Label(place, "there"),),
        "because",
        (("left", ("i32",)),),
        (Remedy("convert", (Edit(place, "f32(n)"),)),),
        kernel="saxpy",
    )
    data = json.loads(render_json([report], root="/w"))
    where = {"file": "a.py", "line": 2, "column": 5, "end_line": 2, "end_column": 9}
    assert data == {
        "version": 1,
        "reports": [
            {
                "code": "IG104",
                "severity": "error",
                "title": "`+` mixes types",
                "kernel": "saxpy",
                "primary": {"span": where, "text": "here"},
                "secondary": [{"span": where, "text": "there"}],
                "why": "because",
                "facts": [{"name": "left", "values": ["i32"]}],
                "remedies": [{"text": "convert", "edits": [{"span": where, "text": "f32(n)"}]}],
            }
        ],
    }


def test_no_reports_are_an_empty_list() -> None:
    assert json.loads(render_json([]))["reports"] == []
