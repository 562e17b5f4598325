"""Control flow, storage, queries and group operations of the interpreter, on kernel IR and on device IR."""

import signal
import time
from typing import Any

import numpy as np
import pytest

from isogrid.backends.interp.launch import Outcome, run, run_program
from isogrid.backends.interp.program import compile_program
from isogrid.ir import kernel as k
from isogrid.ir.types import Access, Scalar, Space
from isogrid.support.errors import KnownLimit

from .build import (
    BOOL,
    F32,
    I32,
    I64,
    U8,
    W32,
    N,
    array,
    at,
    atomic,
    bind,
    gid,
    index,
    kernel,
    launch,
    lid,
    load,
    local,
    store,
)


def add(a: k.Expr, b: k.Expr | int, type: Scalar = I64) -> k.Expr:
    return k.Binary("add", a, index(b) if isinstance(b, int) else b, type)


def less(a: k.Expr, b: k.Expr | int) -> k.Expr:
    return k.Compare("lt", a, index(b) if isinstance(b, int) else b)


def equal(a: k.Expr, b: k.Expr | int) -> k.Expr:
    return k.Compare("eq", a, index(b) if isinstance(b, int) else b)


def out_of(*body: k.Statement, threads: int = 6, name: str = "r", **more: Any) -> list[int]:
    """Run the body, then store the local `name` of each thread."""
    keep = store("out", gid(), value=local(name), element=I64)
    program = kernel(*body, keep, parameters=(array("out", I64, Access.INOUT, index(64)),), **more)
    out = np.zeros(64, np.int64)
    outcome = launch(program, bind({"out": out}, (threads,)))
    assert outcome.trap is None
    assert outcome.findings == ()
    return out[:threads].tolist()


def let(name: str, value: k.Expr | int) -> k.Assign:
    return k.Assign(name, index(value) if isinstance(value, int) else value)


def for_(start: k.Expr | int, stop: k.Expr | int, step: int, *body: k.Statement) -> k.For:
    def expr(value: k.Expr | int) -> k.Expr:
        return index(value) if isinstance(value, int) else value

    return k.For("i", expr(start), expr(stop), index(step), body, I64)


SUM = let("r", add(local("r"), local("i")))


def test_counted_loops() -> None:
    assert out_of(let("r", 0), for_(0, gid(), 1, SUM)) == [sum(range(t)) for t in range(6)]
    assert out_of(let("r", 0), for_(10, gid(), -3, SUM)) == [sum(range(10, t, -3)) for t in range(6)]
    assert out_of(let("r", 7), for_(3, 3, 1, SUM)) == [7] * 6
    assert out_of(let("r", 0), for_(0, 4, 1, SUM, let("i", 100))) == [6] * 6, "assigning the counter changes no trip"
    grow = let("n", add(local("n"), 1))
    assert out_of(let("n", 3), let("r", 0), for_(0, local("n"), 1, SUM, grow)) == [3] * 6, "bounds are read once"


def test_extreme_loops() -> None:
    top = 2**63 - 1
    count = let("r", add(local("r"), 1))
    assert out_of(let("r", 0), for_(top - 2, top, 1, count)) == [2] * 6
    assert out_of(let("r", 0), for_(-(2**63), top, 2**62, count)) == [4] * 6
    assert out_of(let("r", 0), for_(top, -(2**63), -(2**63), count)) == [2] * 6


def test_break_continue_and_leave() -> None:
    skip = k.If(equal(local("i"), 2), (k.Continue(),))
    stop = k.If(equal(local("i"), gid()), (k.Break(),))
    expected = [sum(i for i in range(t) if i != 2) for t in range(6)]
    assert out_of(let("r", 0), for_(0, 9, 1, stop, skip, SUM)) == expected
    leave = k.If(equal(local("i"), gid()), (let("r", local("i")), k.Leave("f")))
    inner = k.Scope("f", (for_(0, 4, 1, leave), let("r", 99)))
    assert out_of(let("r", -1), inner) == [0, 1, 2, 3, 99, 99]
    nested = k.Scope("g", (k.Scope("f", (k.If(less(gid(), 2), (k.Leave("g"),)), k.Leave("f"))), let("r", 5)))
    assert out_of(let("r", 1), nested) == [1, 1, 5, 5, 5, 5]


def test_while_runs_its_prelude_before_each_test() -> None:
    prelude = (let("n", add(local("n"), 1)),)
    body = (k.If(equal(local("n"), 2), (k.Continue(),)), let("r", add(local("r"), local("n"))))
    loop = k.While(prelude, less(local("n"), gid()), body)
    expected = [sum(n for n in range(1, t) if n != 2) for t in range(6)]
    assert out_of(let("n", 0), let("r", 0), loop) == expected


def test_return_ends_the_thread() -> None:
    early = k.If(less(gid(), 3), (k.Return(),))
    assert out_of(early, let("r", 8)) == [0, 0, 0, 8, 8, 8]


def test_short_circuit_evaluates_only_what_python_would() -> None:
    table = k.Table("t", I64, (2,), np.array([10, 20], "<i8").tobytes())
    item = load("t", gid(), type=I64, space=Space.TABLE)
    inside = k.Logical("and", less(gid(), 2), equal(item, 20))
    outside = k.Logical("or", k.Compare("ge", gid(), index(2)), equal(item, 10))
    assert out_of(let("r", k.Cast(inside, I64)), tables=(table,)) == [0, 1, 0, 0, 0, 0]
    assert out_of(let("r", k.Cast(outside, I64)), tables=(table,)) == [1, 0, 1, 1, 1, 1]
    chosen = k.Choose(less(gid(), 2), item, index(-1), I64)
    assert out_of(let("r", chosen), tables=(table,)) == [10, 20, -1, -1, -1, -1]


def test_local_arrays_are_zero_each_time() -> None:
    mine = load("mine", index(1), type=I64, space=Space.LOCAL)
    bump = store("mine", index(1), value=add(mine, 1), element=I64, space=Space.LOCAL)
    loop = for_(0, 3, 1, k.DeclareLocal("mine", I64, (2,)), bump, bump, let("r", add(local("r"), mine)))
    assert out_of(let("r", 0), loop) == [6] * 6
    assert out_of(let("r", 0), loop, k.If(less(gid(), 9), (let("r", mine),))) == [2] * 6


def test_queries_of_three_axes() -> None:
    kinds = [("gid", 3), ("lid", 3), ("group_id", 3), ("group_size", 3), ("num_groups", 3), ("grid_size", 3)]
    wanted = [(kind, axis) for kind, rank in kinds for axis in range(rank)]
    linear = [(kind, None) for kind in ("lid", "group_id", "group_size", "num_groups", "grid_size")]
    flat = add(k.Binary("mul", k.Query("group_id", None), index(12), I64), k.Query("lid", None))
    queries = wanted + linear
    body = [store("out", flat, index(n), value=k.Query(*q), element=I64) for n, q in enumerate(queries)]
    program = kernel(
        *body,
        parameters=(array("out", I64, Access.INOUT, index(2 * 2 * 2 * 12), index(len(queries))),),
        dims=(),
        extents=(index(3), index(3), index(4)),
        block=(2, 2, 3),
        grouped=True,
    )
    out = np.full((96, len(queries)), -1, np.int64)
    launch(program, bind({"out": out}, (3, 3, 4)))
    row = 0
    for group in np.ndindex(2, 2, 2):
        for at_lid in np.ndindex(2, 2, 3):
            gids = [g * b + i for g, b, i in zip(group, (2, 2, 3), at_lid, strict=True)]
            lids = at_lid[0] * 6 + at_lid[1] * 3 + at_lid[2]
            groups = group[0] * 4 + group[1] * 2 + group[2]
            want = [*gids, *at_lid, *group, 2, 2, 3, 2, 2, 2, 4, 4, 6, lids, groups, 12, 8, 96]
            assert out[row].tolist() == want
            row += 1


def test_ungrouped_grids_run_exactly_their_threads() -> None:
    body = store("out", gid(0), gid(1), value=add(k.Query("gid", None), 1), element=I64)
    shape = (index(3), index(5))
    program = kernel(body, parameters=(array("out", I64, Access.OUT, *shape),), dims=(), extents=shape, block=(1, 4))
    out = np.zeros((3, 5), np.int64)
    launch(program, bind({"out": out}, (3, 5)))
    assert out.reshape(-1).tolist() == list(range(1, 16))


def reduction(threads_per_group: int = 8) -> k.Kernel:
    """Sum of each group through shared memory, the classic tree."""
    shared = (k.SharedArray("s", F32, (threads_per_group,)),)

    def s(where: k.Expr) -> k.Expr:
        return load("s", where, type=F32, space=Space.SHARED)

    fill = k.If(less(gid(), N), (store("s", lid(), value=load("x", gid(), type=F32), element=F32, space=Space.SHARED),))
    both = k.Binary("add", s(lid()), s(add(lid(), local("w"))), F32, False)
    step = k.If(less(lid(), local("w")), (store("s", lid(), value=both, element=F32, space=Space.SHARED),))
    halve = let("w", k.Binary("floordiv", local("w"), index(2), I64))
    loop = k.While((), k.Compare("gt", local("w"), index(0)), (step, k.Barrier(), halve))
    keep = k.If(equal(lid(), 0), (store("out", k.Query("group_id", 0), value=s(index(0)), element=F32),))
    return kernel(
        fill,
        k.Barrier(),
        let("w", threads_per_group // 2),
        loop,
        keep,
        parameters=(array("x", F32, Access.IN), array("out", F32, Access.OUT, k.DimValue("G"))),
        dims=("N", "G"),
        grouped=True,
        block=(threads_per_group,),
        shared=shared,
    )


@pytest.mark.parametrize("size", [1, 7, 8, 9, 29])
def test_tree_reduction_in_shared_memory(size: int) -> None:
    x = np.linspace(-3, 5, size, dtype=np.float32)
    groups = -(-size // 8)
    out = np.zeros(groups, np.float32)
    outcome = launch(reduction(), bind({"x": x, "out": out}, (size,), N=size, G=groups))
    assert outcome.findings == ()
    padded = np.zeros(groups * 8, np.float32)
    padded[:size] = x
    blocks = padded.reshape(groups, 8)
    for width in (4, 2, 1):
        blocks = blocks[:, :width] + blocks[:, width : 2 * width]
    np.testing.assert_array_equal(out, blocks[:, 0])


@pytest.mark.parametrize("op", ["sum", "min", "max", "scan"])
def test_group_operations(op: str) -> None:
    x = np.array([3, -1, 4, 1, -5, 9, 2, 6], np.int32)
    body = (
        k.Collective(op, "r", load("x", gid(), type=I32), I32, exclusive=op == "scan"),
        store("x", gid(), value=local("r", I32), element=I32),
    )
    program = kernel(*body, parameters=(array("x", I32),), grouped=True, block=(4,))
    got = x.copy()
    assert launch(program, bind({"x": got}, (8,))).findings == ()
    want = []
    for block in (x[:4].tolist(), x[4:].tolist()):
        scan = [sum(block[:t]) for t in range(4)]
        want += scan if op == "scan" else [{"sum": sum, "min": min, "max": max}[op](block)] * 4
    assert got.tolist() == want


def test_any_and_all_in_a_loop() -> None:
    def vote(op: str) -> tuple[k.Statement, ...]:
        ask = k.Collective(op, "v", less(lid(), local("i")), BOOL)
        return (ask, k.If(local("v", BOOL), (let("r", add(local("r"), 1)),)))

    loop_any = for_(0, 6, 1, *vote("any"))
    loop_all = for_(0, 6, 1, *vote("all"))
    assert out_of(let("r", 0), loop_any, threads=8, grouped=True) == [5] * 8
    assert out_of(let("r", 0), loop_all, threads=8, grouped=True) == [2] * 8


def test_shared_memory_is_zero_for_every_group() -> None:
    shared = (k.SharedArray("s", I64, (4,)),)
    s = load("s", lid(), type=I64, space=Space.SHARED)
    body = (let("r", s), store("s", lid(), value=index(9), element=I64, space=Space.SHARED))
    assert out_of(*body, threads=8, grouped=True, shared=shared) == [0] * 8


def test_whole_groups_run_past_the_grid() -> None:
    body = atomic("add", "x", index(0), k.Const(1, I32), I32)
    program = kernel(body, k.Barrier(), parameters=(array("x", I32),), grouped=True, block=(4,))
    x = np.zeros(5, np.int32)
    launch(program, bind({"x": x}, (5,)))
    assert x[0] == 8


def test_atomics_on_floats_and_modular_integers() -> None:
    body = (
        atomic("max", "f", index(0), load("v", gid(), type=F32), F32),
        atomic("add", "w", index(0), k.Const(2**31, W32), W32),
    )
    program = kernel(*body, parameters=(array("f", F32), array("w", W32), array("v", F32, Access.IN)))
    f, w = np.full(3, -np.inf, np.float32), np.zeros(3, np.uint32)
    launch(program, bind({"f": f, "w": w, "v": np.array([-1, 7, 3], np.float32)}, (3,)))
    assert f[0] == 7
    assert w[0] == 2**31


def test_elements_left_alone_keep_their_bytes() -> None:
    payload = np.array([0x7F800001, 0xFFC12345, 0x80000000, 1], np.uint32).view(np.float32)
    out = payload.copy()
    program = kernel(
        k.If(equal(gid(), 3), (store("x", gid(), value=k.Const(0, F32), element=F32),)), parameters=(array("x", F32),)
    )
    launch(program, bind({"x": out}, (4,)))
    assert out.view(np.uint32).tolist() == [0x7F800001, 0xFFC12345, 0x80000000, 0]


def test_bools_bytes_and_wide_integers_survive() -> None:
    program = kernel(
        store("b", gid(), value=k.Unary("not", load("b", gid(), type=BOOL), BOOL, False), element=BOOL),
        store("c", gid(), value=load("c", gid(), type=U8), element=U8),
        store("d", gid(), value=load("d", gid(), type=Scalar.U64), element=Scalar.U64),
        parameters=(array("b", BOOL), array("c", U8), array("d", Scalar.U64)),
    )
    b, c = np.array([True, False]), np.array([0, 255], np.uint8)
    d = np.array([2**64 - 1, 2**63], np.uint64)
    launch(program, bind({"b": b, "c": c, "d": d}, (2,)))
    assert (b.tolist(), c.tolist(), d.tolist()) == ([False, True], [0, 255], [2**64 - 1, 2**63])


def test_a_grid_shaped_array_may_bind_a_flat_parameter() -> None:
    program = kernel(store("x", gid(), value=k.Const(4, I32), element=I32), parameters=(array("x", I32),))
    x = np.zeros((2, 3), np.int32)
    launch(program, bind({"x": x}, (6,)))
    assert (x == 4).all()


def test_saxpy_is_quick_enough() -> None:
    """64 Ki threads within 1 s, races watched; the bar is twice that for a loaded machine."""
    i = local("i")
    ax = k.Binary("mul", k.ScalarValue("a", F32), load("x", i, type=F32), F32, False)
    body = (
        k.Assign("i", gid()),
        store("y", i, value=k.Binary("add", ax, load("y", i, type=F32), F32, False), element=F32),
    )
    program = kernel(*body, parameters=(k.ScalarParameter("a", F32), array("x", F32, Access.IN), array("y", F32)))
    x = np.ones(65536, np.float32)
    y = np.ones(65536, np.float32)
    start = time.process_time()
    run_program(compile_program(program, True), bind({"x": x, "y": y}, (65536,), {"a": np.float32(2)}))
    assert time.process_time() - start < 2
    assert (y == 3).all()
    assert at(1).line == 1


def test_deep_expressions() -> None:
    deep: k.Expr = gid()
    for _ in range(150):
        deep = add(deep, 1)
    assert out_of(let("r", deep)) == [150 + t for t in range(6)]
    for _ in range(2000):
        deep = add(deep, 1)
    with pytest.raises(KnownLimit, match="nests expressions"):
        compile_program(kernel(let("r", deep), parameters=(array("x", I64),)), True)


def test_a_shuffled_order_gives_the_same_result() -> None:
    x = np.linspace(0, 1, 29, dtype=np.float32)
    results = []
    for order in (None, 1, 2):
        out = np.zeros(4, np.float32)
        assert run(reduction(), bind({"x": x, "out": out}, (29,), N=29, G=4), order=order) == Outcome()
        results.append(out.tolist())
    assert results[0] == results[1] == results[2]


def test_an_endless_kernel_can_be_interrupted() -> None:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    x = np.zeros(4, np.int32)
    program = kernel(
        store("x", gid(), value=k.Const(1, I32), element=I32),
        k.While((), k.Const(1, BOOL), ()),
        parameters=(array("x", I32),),
    )
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(program, bind({"x": x}, (4,)))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not x.any()
