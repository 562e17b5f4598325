"""Locals that may be read behind a branch, against what the text says."""

# Kernels assign what nobody reads on purpose.
# ruff: noqa: F841

import isogrid as ig
from isogrid import InOut, i32
from isogrid.analysis.liveness import live_after_branches
from isogrid.dims import N
from isogrid.ir import kernel as k
from isogrid.ir.walk import visit
from tests.analysis.built import built


@ig.kernel(grid=N, block=4)
def read_later(x: InOut[i32, N]) -> None:
    i = ig.gid()
    a = 1
    b = 2
    if x[i] > 0:
        a = 3
        b = 4
    b = 5
    x[i] = a + b


@ig.kernel(grid=N, block=4)
def read_in_the_next_trip(x: InOut[i32, N], n: i32) -> None:
    i = ig.gid()
    a = 1
    for _ in range(n):
        x[i] = a
        b = 0
        if x[i] > 2:
            a = 7
            b = 8
        elif x[i] > 1:
            break
    x[i] = 0


@ig.kernel(grid=N, block=4)
def read_behind_a_break(x: InOut[i32, N], n: i32) -> None:
    i = ig.gid()
    a = 1
    j = 0
    while j < n:
        if x[i] > 2:
            a = 7
            break
        a = 0
        j += 1
    x[i] = a


@ig.kernel(grid=N, block=4)
def nothing_behind_a_return(x: InOut[i32, N]) -> None:
    i = ig.gid()
    a = 1
    if x[i] > 2:
        a = 2
    if x[i] > 3:
        return
    if x[i] > 4:
        a = 3
        x[i] = a


def after(kernel: object) -> list[set[str]]:
    """What is live behind each branch, in the order of the text, without the coordinates that all of them need."""
    ir = built(kernel)
    live = live_after_branches(ir.body)
    return [set(live[id(node)]) - {"i"} for node in visit(ir.body) if isinstance(node, k.If)]


def test_what_is_read_before_it_is_assigned_again_is_live() -> None:
    assert after(read_later) == [{"a"}]


def test_a_loop_reads_what_its_last_trip_left() -> None:
    live = after(read_in_the_next_trip)
    assert all("a" in names and "b" not in names for names in live[:1])


def test_a_break_leads_behind_the_loop() -> None:
    (live,) = after(read_behind_a_break)
    assert "a" not in live and {"j", "n"} & live


def test_behind_a_return_nothing_is_live() -> None:
    first, second, third = after(nothing_behind_a_return)
    assert "a" not in first | second | third
