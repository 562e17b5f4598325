"""Remedies applied to text."""

import pytest

from isogrid.diagnostics.edits import apply_edits, diff_lines
from isogrid.diagnostics.report import Edit
from isogrid.diagnostics.span import Span

LINES = ["a = 1", "b = 2", "c = 3"]


def edit(line: int, column: int, end_line: int, end_column: int, text: str) -> Edit:
    return Edit(Span("f.py", line, column, end_line, end_column), text)


def test_several_edits_on_one_line_use_columns_of_the_old_text() -> None:
    assert apply_edits(LINES, [edit(1, 5, 1, 5, "f("), edit(1, 6, 1, 6, ")")]) == ["a = f(1)", "b = 2", "c = 3"]


def test_a_whole_line_is_inserted_at_the_start_between_and_after_the_last() -> None:
    assert apply_edits(LINES, [edit(1, 1, 1, 1, "z\n")])[0] == "z"
    assert apply_edits(LINES, [edit(2, 1, 2, 1, "z\n")])[1] == "z"
    assert apply_edits(LINES, [edit(4, 1, 4, 1, "z\n")]) == [*LINES, "z"]


def test_a_range_over_lines_is_replaced() -> None:
    assert apply_edits(LINES, [edit(1, 3, 2, 6, "9")]) == ["a 9", "c = 3"]


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply_edits(LINES, [edit(1, 1, 1, 4, "x"), edit(1, 3, 1, 5, "y")])


def test_diff_shows_the_line_above_an_insertion_and_both_sides_of_a_change() -> None:
    hunks = diff_lines(LINES, [edit(2, 1, 2, 1, "z\n"), edit(3, 5, 3, 6, "4")])
    assert [[(line.mark, line.text) for line in hunk] for hunk in hunks] == [
        [(" ", "a = 1"), ("+", "z")],
        [("-", "c = 3"), ("+", "c = 4")],
    ]
