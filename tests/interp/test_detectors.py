"""The race and divergence detectors: what they find, what they let pass, and that every order of running agrees."""

import numpy as np
import pytest

from isogrid.backends.interp.findings import Divergence, DynamicFault, Race
from isogrid.backends.interp.launch import Outcome, run
from isogrid.backends.interp.runtime import InterpRuntime
from isogrid.ir import kernel as k
from isogrid.ir.types import Access, Space

from .build import I32, I64, array, at, atomic, bind, gid, index, kernel, lid, load, local, store

ORDERS = [None, 1, 2, 3, 4, 5]


def x_parameter() -> tuple[k.Parameter, ...]:
    return (array("x", I32, Access.INOUT, index(64)),)


def go(*body: k.Statement, threads: int = 8, order: int | None = None, grouped: bool = True, **more: object) -> Outcome:
    program = kernel(*body, parameters=x_parameter(), grouped=grouped, **more)  # type: ignore[arg-type]
    return run(program, bind({"x": np.zeros(64, np.int32)}, (threads,)), order=order)


def plus(a: k.Expr, value: int) -> k.Expr:
    return k.Binary("add", a, index(value), I64)


def write(where: k.Expr, line: int = 1, name: str = "x", space: Space = Space.GLOBAL) -> k.Store:
    return store(name, where, value=k.Const(1, I32), element=I32, line=line, space=space)


def read(where: k.Expr, line: int = 1, name: str = "x", space: Space = Space.GLOBAL) -> k.Statement:
    return k.Evaluate(load(name, where, type=I32, line=line, space=space))


def only_race(outcome: Outcome) -> Race:
    (finding,) = outcome.findings
    assert isinstance(finding, Race)
    return finding


@pytest.mark.parametrize("order", ORDERS)
def test_write_write(order: int | None) -> None:
    race = only_race(go(write(index(3), line=7), order=order))
    assert (race.array, race.element, race.first.kind, race.second.kind) == ("x", 3, "write", "write")
    assert race.first.thread != race.second.thread
    assert race.first.span == at(7)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("grouped", [False, True])
def test_read_of_a_neighbours_element(order: int | None, grouped: bool) -> None:
    outcome = go(write(gid(), line=1), read(plus(gid(), 1), line=2), order=order, grouped=grouped)
    kinds = {(r.first.kind, r.second.kind) for r in outcome.findings if isinstance(r, Race)}
    assert kinds <= {("read", "write"), ("write", "read")}
    assert kinds
    for race in outcome.findings:
        assert isinstance(race, Race)
        reader, writer = sorted((race.first, race.second), key=lambda touch: touch.kind)
        assert writer.thread == race.element == reader.thread + 1


@pytest.mark.parametrize("order", ORDERS)
def test_a_barrier_orders_one_group_only(order: int | None) -> None:
    neighbour = k.Binary("xor", gid(), index(1), I64, False)
    within = (write(gid()), k.Barrier(), read(neighbour))
    assert go(*within, order=order).findings == ()
    across = (write(gid()), k.Barrier(), read(k.Binary("xor", gid(), index(4), I64, False)))
    findings = go(*across, order=order).findings
    assert findings
    for race in findings:
        assert isinstance(race, Race)
        assert abs(race.first.thread - race.second.thread) == 4
    assert go(*across, order=order, threads=4).findings == ()


@pytest.mark.parametrize("order", ORDERS)
def test_the_next_interval_races_again(order: int | None) -> None:
    """Read, barrier, write is fine; the write that follows the read of a neighbour without one is not."""
    neighbour = k.Binary("xor", lid(), index(1), I64, False)
    shared = (k.SharedArray("s", I32, (4,)),)

    def s_write() -> k.Statement:
        return write(lid(), name="s", space=Space.SHARED)

    def s_read() -> k.Statement:
        return read(neighbour, name="s", space=Space.SHARED)

    good = (s_write(), k.Barrier(), s_read(), k.Barrier(), s_write())
    assert go(*good, order=order, shared=shared).findings == ()
    bad = (s_write(), k.Barrier(), s_read(), s_write())
    findings = go(*bad, order=order, shared=shared).findings
    assert findings
    assert all(isinstance(f, Race) and f.array == "s" for f in findings)


@pytest.mark.parametrize("order", ORDERS)
def test_atomics(order: int | None) -> None:
    def add() -> k.Statement:
        return atomic("add", "x", index(0), k.Const(1, I32), I32)

    def least() -> k.Statement:
        return atomic("min", "x", index(0), k.Const(1, I32), I32, line=2)

    assert go(add(), order=order).findings == ()
    assert go(add(), least(), order=order).findings != ()
    first = k.If(k.Compare("eq", gid(), index(5)), (read(index(0), line=3),))
    race = go(add(), first, order=order).findings
    assert race
    assert all(isinstance(r, Race) and 5 in (r.first.thread, r.second.thread) for r in race)
    assert go(add(), k.Barrier(), first, order=order, threads=4).findings == ()


@pytest.mark.parametrize("order", ORDERS)
def test_reads_alone_never_race(order: int | None) -> None:
    assert go(read(index(0)), read(gid()), order=order).findings == ()


def test_a_second_reader_is_remembered() -> None:
    """The first reader writes later: only the other reader conflicts with it, in every order."""
    reads = k.If(k.Compare("lt", gid(), index(2)), (read(index(0), line=1),))
    writes = k.If(k.Compare("eq", gid(), index(0)), (write(index(0), line=2),))
    for order in ORDERS:
        race = only_race(go(reads, writes, order=order, threads=4))
        assert {race.first.thread, race.second.thread} == {0, 1}


def test_local_arrays_and_tables_are_private() -> None:
    declare = k.DeclareLocal("mine", I32, (2,))
    table = k.Table("t", I32, (2,), np.array([1, 2], np.int32).tobytes())
    outcome = go(
        declare,
        write(index(0), name="mine", space=Space.LOCAL),
        read(index(0), name="mine", space=Space.LOCAL),
        read(index(1), name="t", space=Space.TABLE),
        tables=(table,),
    )
    assert outcome == Outcome()


# --- divergence -----------------------------------------------------------------------------------------------------


def diverged(outcome: Outcome) -> Divergence:
    found = [f for f in outcome.findings if isinstance(f, Divergence)]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("order", ORDERS)
def test_some_threads_skip_a_barrier(order: int | None) -> None:
    finding = diverged(go(k.If(k.Compare("lt", lid(), index(2)), (k.Barrier(span=at(4)),)), order=order, threads=4))
    assert finding == Divergence(0, ((0, at(4)),), 2)


@pytest.mark.parametrize("order", ORDERS)
def test_different_barriers(order: int | None) -> None:
    branch = k.If(k.Compare("lt", lid(), index(2)), (k.Barrier(span=at(4)),), (k.Barrier(span=at(6)),))
    assert diverged(go(branch, order=order, threads=4)) == Divergence(0, ((0, at(4)), (2, at(6))), None)


def test_different_trips_of_one_loop() -> None:
    skip = k.If(k.Compare("eq", local("i"), lid()), (k.Continue(),))
    loop = k.For("i", index(0), index(4), index(1), (skip, k.Barrier(span=at(9))), I64)
    finding = diverged(go(loop, threads=4))
    assert {place for _, place in finding.waiting} == {at(9)}
    assert len(finding.waiting) == 2


def test_early_return_before_a_group_operation() -> None:
    leave = k.If(k.Compare("eq", lid(), index(1)), (k.Return(),))
    collective = k.Collective("sum", "r", k.Const(1, I32), I32, span=at(3))
    assert diverged(go(leave, collective, threads=4)) == Divergence(0, ((0, at(3)),), 1)


def test_uniform_control_flow_passes() -> None:
    wait = k.Barrier()
    loop = k.For("i", index(0), index(3), index(1), (k.If(k.Compare("gt", local("i"), index(0)), (wait,)), wait), I64)
    assert go(loop, wait) == Outcome()
    assert go(k.If(k.Compare("eq", k.Query("group_id", 0), index(1)), (wait,))) == Outcome(), "per group is enough"


def test_a_trapped_thread_is_no_divergence() -> None:
    check = k.Assert(k.Compare("ne", lid(), index(1)), "")
    outcome = go(check, k.Barrier(), threads=4)
    assert outcome.findings == ()
    assert outcome.trap is not None


# --- the runtime ----------------------------------------------------------------------------------------------------


def test_the_runtime_refuses_a_race_and_changes_nothing() -> None:
    program = kernel(write(index(0)), parameters=x_parameter())
    runtime = InterpRuntime()
    x = np.zeros(64, np.int32)
    with pytest.raises(DynamicFault, match="data race on `x` at element 0: thread 0"):
        runtime.launch(runtime.compile(program, {}), bind({"x": x}, (4,)))
    assert not x.any()
    runtime.launch(runtime.compile(program, {"interp": {"detect_races": False}}), bind({"x": x}, (4,)))
    assert x[0] == 1


def test_the_detector_is_exact_against_all_pairs() -> None:
    """Random accesses in two groups of four with barriers: found exactly when some pair conflicts."""
    rng = np.random.default_rng(3)
    for _ in range(150):
        steps = [[(int(rng.integers(3)), int(rng.integers(3))) for _ in range(8)] for _ in range(3)]
        body: list[k.Statement] = []
        touched: list[tuple[int, int, str]] = []
        barrier_after = int(rng.integers(3))
        interval = 0
        for number, step in enumerate(steps):
            for thread, (element, kind) in enumerate(step):
                if rng.random() < 0.6:
                    continue
                action = [read(index(element)), write(index(element)), atomic_add(element)][kind]
                body.append(k.If(k.Compare("eq", gid(), index(thread)), (action,)))
                touched.append((thread, interval, f"{element}{'rwa'[kind]}"))
            if number == barrier_after:
                body.append(k.Barrier())
                interval += 1
        want = any(conflict(a, b) for at_a, a in enumerate(touched) for b in touched[at_a + 1 :])
        for order in (None, int(rng.integers(1000))):
            assert bool(go(*body, order=order).findings) == want


def atomic_add(element: int) -> k.Statement:
    return atomic("add", "x", index(element), k.Const(1, I32), I32)


def conflict(a: tuple[int, int, str], b: tuple[int, int, str]) -> bool:
    (thread_a, interval_a, touch_a), (thread_b, interval_b, touch_b) = a, b
    if thread_a == thread_b or touch_a[0] != touch_b[0]:
        return False
    if thread_a // 4 == thread_b // 4 and interval_a != interval_b:
        return False
    return {touch_a[1], touch_b[1]} not in ({"r"}, {"a"})
