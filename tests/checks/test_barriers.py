"""Barriers that threads of a group may miss are refused with both places; the uniform near misses pass."""

import inspect
from typing import Any, Literal

import pytest

import isogrid as ig
from isogrid import In, InOut, f32, i32, i64
from isogrid.analysis.uniformity import divergent_barriers
from isogrid.checks.barriers import check_barriers
from isogrid.dims import N
from tests.analysis.built import built


@ig.kernel(groups=4, block=64)
def under_a_varying_if(y: InOut[f32, N]) -> None:
    if ig.lid() < 32:
        ig.barrier()  # IG301


@ig.kernel(groups=4, block=64)
def through_aliases(y: InOut[f32, N]) -> None:
    t = ig.lid()
    half = t // 2
    first = half < 16
    if first:
        y[0] = 1.0
        ig.barrier()  # IG301


@ig.kernel(groups=4, block=64)
def after_an_early_return(y: InOut[f32, N]) -> None:
    i = ig.gid()
    if i >= len(y):
        return
    y[i] = 1.0
    ig.barrier()  # IG302


@ig.kernel(groups=4, block=64)
def in_a_varying_loop(y: InOut[f32, N]) -> None:
    for _ in range(ig.lid()):
        ig.barrier()  # IG303


@ig.kernel(groups=4, block=64)
def in_a_varying_while(y: InOut[f32, N]) -> None:
    k = 0
    while k < ig.lid():
        ig.barrier()  # IG303
        k += 1


@ig.kernel(groups=4, block=64)
def after_a_varying_break(y: InOut[f32, N]) -> None:
    for k in range(8):
        if k == ig.lid():
            break
        ig.barrier()  # IG302


@ig.kernel(groups=4, block=64)
def before_a_varying_break(y: InOut[f32, N]) -> None:
    """The threads that left miss the barrier of the next trip."""
    for k in range(8):
        ig.barrier()  # IG302
        if k == ig.lid():
            break


@ig.kernel(groups=4, block=64)
def after_a_varying_continue(y: InOut[f32, N]) -> None:
    for k in range(8):
        if k == ig.lid():
            continue
        ig.barrier()  # IG302


@ig.kernel(groups=4, block=64)
def under_a_value_of_a_varying_loop(y: InOut[f32, N]) -> None:
    k = 0
    while k < ig.lid():
        k += 1
    if k == 3:
        ig.barrier()  # IG301


@ig.kernel(groups=4, block=64)
def under_a_value_assigned_apart(y: InOut[f32, N]) -> None:
    mode = 0
    if ig.lid() == 0:
        mode = 1
    if mode == 1:
        ig.barrier()  # IG301


@ig.kernel(groups=4, block=64)
def group_operation(y: InOut[i32, N]) -> None:
    if ig.lid() > 3:
        y[0] = ig.group_sum(1)  # IG301


@ig.kernel(groups=4, block=64)
def loaded_after_an_atomic(y: InOut[i32, Literal[4]]) -> None:
    ig.atomic_add(y, 0, 1)
    if y[0] > 3:
        ig.barrier()  # IG301


@ig.kernel(groups=4, block=64)
def from_private_memory(y: InOut[i32, N]) -> None:
    mine = ig.local(i32, 4)
    mine[0] = i32(ig.lid())
    if mine[0] > 3:
        ig.barrier()  # IG301


@ig.func
def leave_early(y: InOut[f32, N], i: i64) -> None:
    if i >= len(y):
        return
    ig.barrier()  # IG302


@ig.kernel(groups=4, block=64)
def in_a_helper(y: InOut[f32, N]) -> None:
    leave_early(y, ig.gid())


REFUSED = [
    under_a_varying_if, through_aliases, after_an_early_return, in_a_varying_loop, in_a_varying_while,
    after_a_varying_break, before_a_varying_break, after_a_varying_continue, under_a_value_of_a_varying_loop,
    under_a_value_assigned_apart, group_operation, loaded_after_an_atomic, from_private_memory,
]  # fmt: skip


@ig.kernel(groups=4, block=64)
def under_a_group_value(y: InOut[f32, N], flag: i32) -> None:
    if ig.group_id() == 1 and flag > 0 and len(y) > 3:
        ig.barrier()


@ig.kernel(groups=4, block=64)
def in_a_uniform_loop(y: InOut[f32, N]) -> None:
    s = 32
    while s > 0:
        if ig.lid() < s:
            y[ig.lid()] = 1.0
        ig.barrier()
        s //= 2
    for k in range(len(y)):
        ig.barrier()
        if k == 5:
            break


@ig.kernel(groups=4, block=64)
def guarded_work(y: InOut[f32, N]) -> None:
    i = ig.gid()
    if i < len(y):
        y[i] = 1.0
    ig.barrier()


@ig.kernel(groups=4, block=64)
def uniform_return(y: InOut[f32, N]) -> None:
    if ig.group_id() >= len(y):
        return
    ig.barrier()


@ig.kernel(groups=4, block=64)
def agreed_by_vote(y: InOut[f32, N]) -> None:
    running = True
    k = 0
    while running:
        k += 1
        running = ig.group_any(k < ig.lid())
        ig.barrier()


@ig.kernel(groups=4, block=64)
def loaded_at_a_group_index(n: In[i32, Literal[4]], y: InOut[f32, N]) -> None:
    for _ in range(n[ig.group_id()]):
        ig.barrier()


@ig.kernel(groups=4, block=64)
def reconverged(y: InOut[f32, N]) -> None:
    """A varying loop or a varying helper return is over before the barrier."""
    k = 0
    while k < ig.lid():
        k += 1
    if k > 2:
        k = 0
    ig.barrier()
    for j in range(8):
        if j == ig.lid():
            continue
        y[j] = 1.0
    ig.barrier()


@ig.kernel(groups=(2, 2), block=(1, 64))
def one_thread_along_an_axis(y: InOut[f32, N]) -> None:
    if ig.lid(0) == 0 and ig.gid(0) < 2:
        ig.barrier()


ACCEPTED = [
    under_a_group_value, in_a_uniform_loop, guarded_work, uniform_return, agreed_by_vote, loaded_at_a_group_index,
    reconverged, one_thread_along_an_axis,
]  # fmt: skip


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda kernel: kernel.definition.name)
def test_refused(kernel: Any) -> None:
    source, first = inspect.getsourcelines(kernel.definition.function)
    marked = [(first + n, line.rsplit("# ", 1)[1].strip()) for n, line in enumerate(source) if "# IG" in line]
    reports = check_barriers(built(kernel))
    assert [(report.primary.span.line, report.code) for report in reports] == marked
    assert all(report.secondary and report.remedies for report in reports)


def test_a_helper_is_looked_into() -> None:
    (found,) = divergent_barriers(built(in_a_helper))
    assert found.cause.how == "return"


@pytest.mark.parametrize("kernel", ACCEPTED, ids=lambda kernel: kernel.definition.name)
def test_accepted(kernel: Any) -> None:
    assert check_barriers(built(kernel)) == []
