"""How much work a check is, counted: no kernel is executed symbolically more often than its question needs."""

from collections import Counter
from typing import Any, Literal

import pytest

import isogrid as ig
from isogrid import InOut, Out, i32
from isogrid.analysis.symbolic import races, witness
from isogrid.checks.races import check_races
from isogrid.dims import N
from tests.mutation.bases import built


@ig.kernel(grid=N, block=8)
def neighbour(x: InOut[i32, N]) -> None:
    i = ig.gid()
    if i + 1 < N:
        x[i + 1] = x[i]


@ig.kernel(groups=1, block=8)
def long_loop(y: InOut[i32, Literal[8]]) -> None:
    """Thirty trips are unrolled on the second attempt only, which still finds the race."""
    for j in range(30):
        y[(ig.lid() + j) % 8] = j


@ig.kernel(groups=1, block=4)
def four_buffers(n: i32, y: Out[i32, Literal[4]]) -> None:
    """Four arrays that race at the same places, so that the same barriers come to mind for each."""
    a = ig.shared(i32, 4)
    b = ig.shared(i32, 4)
    c = ig.shared(i32, 4)
    d = ig.shared(i32, 4)
    i = ig.lid()
    for j in range(n):
        a[i], b[i], c[i], d[i] = j, j, j, j
        y[i] = a[3 - i] + b[3 - i] + c[3 - i] + d[3 - i]


@ig.kernel(groups=1, block=4)
def many_sums(y: Out[i32, Literal[64]]) -> None:
    """Too many accesses to follow one by one; taken as loops they are few."""
    s = ig.shared(i32, 64)
    i = ig.lid()
    for j in range(16):
        s[16 * i + j] = j
    ig.barrier()
    for j in range(16):
        v = 0
        for a in range(16):
            for b in range(16):
                v += s[16 * i + a] * s[(16 * i + b + j) % 64]
        y[16 * i + j] = v


@ig.kernel(grid=N)
def moving_place(n: i32, x: InOut[i32, N]) -> None:
    """The place of each access is a choice between places of the trip before, so that its definition mentions each of
    them twice: followed anew at every mention, it is 2^48 long."""
    i = ig.gid()
    for a in range(6):
        if a == x[i] % 5:
            continue
        for b in range(a, 8):
            i += 1
            if b * b > abs(x[i]) * 3:
                break
            if b == n:
                continue
    x[i] = n


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the parts of the proof ran."""
    counts: Counter[str] = Counter()
    for name in ("execute", "conflict"):
        original: Any = getattr(races, name)

        def counted(*arguments: Any, name: str = name, original: Any = original) -> Any:
            counts[name] += 1
            return original(*arguments)

        monkeypatch.setattr(races, name, counted)
    return counts


def test_a_kernel_without_loops_is_executed_once(done: Counter[str]) -> None:
    proof = races.RaceProof(built(neighbour))
    assert proof.pairs()
    assert done["execute"] == 1


def test_loops_are_unrolled_further_only_where_that_may_help(done: Counter[str]) -> None:
    assert races.RaceProof(built(long_loop)).pairs()
    assert done["execute"] == 2


def test_what_is_too_much_unrolled_is_proved_as_loops(done: Counter[str]) -> None:
    proof = races.RaceProof(built(many_sums))
    assert not proof.races_anywhere()
    assert done["execute"] == 2 and proof.context.steps < 500


def test_whether_an_array_races_is_known_at_its_first_pair(done: Counter[str]) -> None:
    proof = races.RaceProof(built(four_buffers))
    assert proof.races_on("a")
    assert done["conflict"] == 2, "the write with itself is proved, the write with the read is not"
    assert len(proof.pairs()) >= 4
    asked = done["conflict"]
    assert asked >= 8
    assert proof.races_anywhere() and proof.races_on("d") and not proof.races_on("y")
    assert done["conflict"] == asked, "answers are kept"


def test_reports_of_one_kernel_try_each_change_once(done: Counter[str]) -> None:
    reports = check_races(built(four_buffers))
    assert [report.title.split("`")[1][0] for report in reports] == ["a", "b", "c", "d"]
    # The kernel itself, and a barrier before either access, at the end of the loop and before it.
    assert done["execute"] <= 6


def test_values_are_followed_once_however_often_they_are_mentioned(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: Counter[str] = Counter()
    original: Any = witness._atom_bases  # pyright: ignore[reportPrivateUsage]

    def counted(c: Any, name: str, *others: Any) -> bool:
        followed[name] += 1
        assert followed.total() < 1_000_000, "the walk follows what it has seen"
        return original(c, name, *others)

    monkeypatch.setattr(witness, "_atom_bases", counted)
    assert [report.code for report in check_races(built(moving_place))] == ["IG202"]
