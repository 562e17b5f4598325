"""What the race proof makes of preconditions on arrays, and what it must not make of them."""

from typing import Any

import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, i64
from isogrid.analysis.symbolic.array_facts import allows
from isogrid.checks.races import check_races
from isogrid.dims import H, M, N
from isogrid.frontend.build import build
from isogrid.frontend.definition import Specialisation
from isogrid.ir import kernel as k


class Ends(ig.Dim, equals=H + 1):
    """One more than the rows."""


@ig.kernel(grid=N)
def scatter(p: In[i64, N], x: In[f32, N], y: Out[f32, N]) -> None:
    ig.require(ig.distinct(p))
    i = ig.gid()
    y[p[i]] = x[i]


@ig.kernel(grid=N)
def scatter_of_the_flagged(p: In[i32, N], keep: In[bool, N], y: InOut[i32, M]) -> None:
    ig.require(ig.distinct(p, where=keep))
    i = ig.gid()
    if keep[i]:
        y[p[i] + 3] += 1


@ig.kernel(grid=H)
def rows(start: In[i32, Ends], x: In[f32, H], y: InOut[f32, N]) -> None:
    ig.require(ig.is_sorted(start))
    r = ig.gid()
    for j in range(start[r], start[r + 1]):
        y[j] *= x[r]


@ig.kernel(groups=H, block=64)
def rows_by_groups(start: In[i32, Ends], x: In[f32, H], y: InOut[f32, N]) -> None:
    ig.require(ig.is_sorted(start))
    r = ig.group_id()
    for j in range(start[r] + i32(ig.lid()), start[r + 1], 64):
        y[j] *= x[r]


@ig.kernel(grid=(N, M))
def product(p: In[i32, N], q: In[i32, M], z: InOut[f32, H], m: i32) -> None:
    ig.require(ig.distinct(p))
    ig.require(ig.distinct(q))
    ig.require(ig.all_in_range(q, 0, m))
    i, j = ig.gids()
    z[p[i] * m + q[j]] = 1.0


@ig.kernel(grid=N)
def without_distinct(p: In[i64, N], x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[p[i]] = x[i]


@ig.kernel(grid=N)
def without_the_flag(p: In[i32, N], keep: In[bool, N], y: InOut[i32, M]) -> None:
    ig.require(ig.distinct(p, where=keep))
    y[p[ig.gid()]] += 1


@ig.kernel(grid=N)
def another_flag(p: In[i32, N], keep: In[bool, N], y: InOut[i32, M]) -> None:
    ig.require(ig.distinct(p, where=keep))
    i = ig.gid()
    if keep[(i + 1) % N]:
        y[p[i]] += 1


@ig.kernel(grid=N)
def halved(p: In[i32, N], y: InOut[i32, M]) -> None:
    ig.require(ig.distinct(p))
    y[p[ig.gid()] // 2] += 1


@ig.kernel(grid=H)
def one_too_far(start: In[i32, Ends], x: In[f32, H], y: InOut[f32, N]) -> None:
    ig.require(ig.is_sorted(start))
    r = ig.gid()
    for j in range(start[r], start[r + 1] + 1):
        y[j] *= x[r]


@ig.kernel(grid=H)
def not_sorted(start: In[i32, Ends], x: In[f32, H], y: InOut[f32, N]) -> None:
    r = ig.gid()
    for j in range(start[r], start[r + 1]):
        y[j] *= x[r]


@ig.kernel(grid=(N, M))
def product_without_range(p: In[i32, N], q: In[i32, M], z: InOut[f32, H], m: i32) -> None:
    ig.require(ig.distinct(p))
    ig.require(ig.distinct(q))
    i, j = ig.gids()
    z[p[i] * m + q[j]] = 1.0


def codes(kernel: Any) -> list[str]:
    return [report.code for report in check_races(build(kernel.definition, Specialisation()))]


@pytest.mark.parametrize("kernel", [scatter, scatter_of_the_flagged, rows, rows_by_groups, product])
def test_facts_prove(kernel: Any) -> None:
    assert codes(kernel) == []


@pytest.mark.parametrize(
    "kernel",
    [without_distinct, without_the_flag, another_flag, halved, one_too_far, not_sorted, product_without_range],
)
def test_what_they_do_not_say_is_not_proved(kernel: Any) -> None:
    (code,) = codes(kernel)
    assert code in ("IG201", "IG202")


def test_a_counterexample_keeps_the_facts() -> None:
    distinct = k.ArrayFact("distinct", "p", "")
    assert allows((distinct,), (("p", (0,), 3), ("p", (1,), 4), ("q", (0,), 3)))
    assert not allows((distinct,), (("p", (0,), 3), ("p", (5,), 3)))
    flagged = k.ArrayFact("distinct", "p", "", where="keep")
    assert allows((flagged,), (("p", (0,), 3), ("p", (5,), 3), ("keep", (0,), 1)))
    assert not allows((flagged,), (("p", (0,), 3), ("p", (5,), 3), ("keep", (0,), 1), ("keep", (5,), 1)))
    assert not allows((k.ArrayFact("is_sorted", "p", ""),), (("p", (4,), 3), ("p", (2,), 5)))
