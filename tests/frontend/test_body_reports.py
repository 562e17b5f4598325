"""Reports of a body: all of them, none that follows from another, and the exact place in the text."""

from pathlib import Path
from typing import Any

import pytest

import isogrid as ig
from isogrid import In, InOut, Out
from isogrid.dims import N

from .bodies import built, refusal_codes


def test_all_faults_at_once_and_nothing_that_follows_from_them() -> None:
    def body(x: In[ig.f32, N], n: In[ig.i32, N], y: Out[ig.f32, N]) -> None:
        i = ig.gid()
        a = x[i] + n[i]
        b = a * 2.0
        c, d = b, missing  # type: ignore[name-defined]  # noqa: F821
        if n[i]:
            y[i] = c + d
        for j in range(x[i]):
            y[j] = unknown  # type: ignore[name-defined]  # noqa: F821
        y[i] = b

    assert refusal_codes(body) == ["IG108", "IG105", "IG104", "IG136", "IG105"]


def test_both_operands_are_judged() -> None:
    def body(y: Out[ig.f32, N]) -> None:
        y[first] = second + third  # type: ignore[name-defined]  # noqa: F821

    assert refusal_codes(body) == ["IG105", "IG105", "IG105"]


def test_a_place_counts_characters_not_bytes() -> None:
    def body(größe: ig.f32, y: Out[ig.f32, N]) -> None:
        y[0] = größe * größe * fehlt  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(ig.KernelRefused) as caught:
        built(body)
    span = caught.value.reports[0].primary.span
    line = Path(span.file).read_text(encoding="utf-8").splitlines()[span.line - 1]
    assert line[span.column - 1 : span.end_column - 1] == "fehlt"


def test_a_report_in_a_helper_shows_the_call() -> None:
    @ig.func
    def inner(v: Any) -> Any:
        return v[0]

    @ig.func
    def outer(v: Any) -> Any:
        return inner(v)

    def body(y: InOut[ig.f32, N]) -> None:
        y[0] = outer(1.0)

    with pytest.raises(ig.KernelRefused) as caught:
        built(body)
    (report,) = caught.value.reports
    assert [label.text for label in report.secondary] == ["in this call of `inner`", "in this call of `outer`"]
    assert report.kernel == "body"


def test_reports_are_sorted_by_place() -> None:
    def body(x: In[ig.f32, N], y: Out[ig.f32, N]) -> None:
        v = x[0]
        v = ig.gid()  # noqa: F841
        y[0] = missing  # type: ignore[name-defined]  # noqa: F821

    assert refusal_codes(body) == ["IG107", "IG105"]
