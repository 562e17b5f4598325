"""The text of reports, exactly: labels, long and wide lines, missing source, facts, remedies."""

import re

from isogrid.diagnostics.render_text import render_reports, summary
from isogrid.diagnostics.report import Edit, Label, Remedy, Report, Severity
from isogrid.diagnostics.span import NOWHERE, Span

SOURCE = """\
import isogrid as ig

@ig.kernel(groups=1, block=256)
def smooth(x, y, n):
    tile = ig.shared(ig.f32, 256)
    i = ig.lid()
    g = ig.gid()
    tile[i] = x[g]
    y[g] = tile[i] + tile[(i + 1) % 256]
    y[g] = blur(x,
\t\ty[g],

        n)
    漢字 = n +\tx
    y[i] = x[i] + n
""".splitlines()


def span(line: int, column: int, end_column: int, end_line: int | None = None, file: str = "/w/smooth.py") -> Span:
    return Span(file, line, column, end_line or line, end_column)


def render(*reports: Report, color: bool = False) -> str:
    return render_reports(reports, root="/w", color=color, source=lambda f: SOURCE if f.endswith("smooth.py") else [])


RACE = Report(
    "IG201",
    "two threads touch `tile[1]` with no barrier between them",
    Label(span(9, 22, 41), "thread 0 reads tile[1]"),
    (Label(span(8, 5, 12), "thread 1 writes tile[1]"),),
    "no barrier separates the two accesses, so either may happen first",
    (
        ("counterexample", ("one group of 256 threads",)),
        ("", ("thread 1", "thread 0")),
        ("lid", ("1", "0")),
        ("element", ("1", "1")),
        ("access", ("writes", "reads")),
    ),
    (Remedy("let every thread finish writing first", (Edit(span(9, 1, 1), "    ig.barrier()\n"),)),),
)


def test_race_reads_as_the_style_guide_shows_it() -> None:
    assert (
        render(RACE)
        == """\
error[IG201]: two threads touch `tile[1]` with no barrier between them
 --> smooth.py:9:22
  |
8 |     tile[i] = x[g]
  |     ------- thread 1 writes tile[1]
9 |     y[g] = tile[i] + tile[(i + 1) % 256]
  |                      ^^^^^^^^^^^^^^^^^^^ thread 0 reads tile[1]
  |
  = why: no barrier separates the two accesses, so either may happen first
  = counterexample: one group of 256 threads
                 thread 1   thread 0
      lid        1          0
      element    1          1
      access     writes     reads
  = remedy: let every thread finish writing first
  |
8 |     tile[i] = x[g]
+ |     ig.barrier()
  |
  = more: isogrid explain IG201
"""
    )


def test_operands_inside_the_expression_keep_their_own_marks_and_the_remedy_is_a_diff() -> None:
    report = Report(
        "IG104",
        "`+` mixes f32 and i32; convert one side",
        Label(span(15, 12, 20), "f32 + i32"),
        (Label(span(15, 12, 16), "f32"), Label(span(15, 19, 20), "i32"), Label(span(4, 18, 19), "n is i32")),
        remedies=(
            Remedy("convert the integer", (Edit(span(15, 19, 19), "f32("), Edit(span(15, 20, 20), ")"))),
            Remedy("or declare `n: f32`"),
        ),
    )
    assert (
        render(report)
        == """\
error[IG104]: `+` mixes f32 and i32; convert one side
  --> smooth.py:15:12
   |
 4 | def smooth(x, y, n):
   |                  - n is i32
...
15 |     y[i] = x[i] + n
   |            ----^^^-
   |            |      |
   |            |      i32
   |            f32
   |            f32 + i32
   |
   = remedy: convert the integer
   |
 - |     y[i] = x[i] + n
 + |     y[i] = x[i] + f32(n)
   |
   = remedy: or declare `n: f32`
   = more: isogrid explain IG104
"""
    )


def test_a_label_over_several_lines_marks_each_and_speaks_once() -> None:
    assert (
        render(Report("IG110", "call", Label(span(10, 12, 11, 13), "this call")))
        == """\
error[IG110]: call
  --> smooth.py:10:12
   |
10 |     y[g] = blur(x,
   |            ^^^^^^^
11 |         y[g],
   |         ^^^^^
12 |
13 |         n)
   |         ^^ this call
   |
   = more: isogrid explain IG110
"""
    )


def test_a_long_label_shows_its_two_ends() -> None:
    assert (
        render(Report("IG110", "body", Label(span(5, 5, 41, 9), "this body")))
        == """\
error[IG110]: body
 --> smooth.py:5:5
  |
5 |     tile = ig.shared(ig.f32, 256)
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
...
9 |     y[g] = tile[i] + tile[(i + 1) % 256]
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ this body
  |
  = more: isogrid explain IG110
"""
    )


def test_wide_characters_and_tabs_keep_the_carets_under_their_text() -> None:
    report = Report("IG110", "wide", Label(span(14, 10, 15), "sum"), (Label(span(14, 5, 7), "name"),))
    assert (
        render(report)
        == """\
error[IG110]: wide
  --> smooth.py:14:10
   |
14 |     漢字 = n +  x
   |     ----   ^^^^^^ sum
   |     |
   |     name
   |
   = more: isogrid explain IG110
"""
    )


def test_two_files_are_shown_apart_and_missing_source_is_said() -> None:
    report = Report(
        "IG110",
        "helper",
        Label(span(6, 9, 17), "called here"),
        (Label(span(3, 1, 4, file="<console>"), "declared here"),),
    )
    assert (
        render(report)
        == """\
error[IG110]: helper
 --> smooth.py:6:9
  |
6 |     i = ig.lid()
  |         ^^^^^^^^ called here
  |
 ::: <console>:3:1
  |
  | line 3, column 1 (source not available): declared here
  |
  = more: isogrid explain IG110
"""
    )


def test_no_place_no_code_facts_without_heading_and_long_reasons() -> None:
    report = Report(
        "",
        "unroll has no effect",
        Label(NOWHERE, "in kernel smooth"),
        why="the loop has no trips\nand no body",
        facts=(("trips", ("0",)), ("factor asked for", ("8",))),
        severity=Severity.WARNING,
    )
    assert (
        render(report)
        == """\
warning: unroll has no effect
  = note: in kernel smooth
  = why: the loop has no trips
         and no body
  = facts:
      trips               0
      factor asked for    8
"""
    )


def test_empty_span_and_span_past_the_line_end_have_one_caret() -> None:
    assert "  |                 ^ here\n" in render(Report("IG110", "end", Label(span(6, 17, 17), "here")))


def test_reports_are_parted_by_a_blank_line_and_counted() -> None:
    warning = Report("IG111", "two", Label(span(6, 5, 6)), severity=Severity.WARNING)
    text = render(RACE, warning)
    assert "explain IG201\n\nwarning[IG111]: two\n" in text
    assert summary([RACE, warning, RACE]) == "2 errors, 1 warning"
    assert summary([]) == ""


def test_colour_is_asked_for_and_changes_nothing_else() -> None:
    coloured = render(RACE, color=True)
    assert "\x1b[1;31m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(RACE)
