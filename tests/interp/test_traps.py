"""Every trap message, byte for byte, on both interpreters; which trap is the first; and arrays untouched after one."""

import linecache
from typing import Any

import numpy as np
import pytest

from isogrid import traps
from isogrid.backends.interp.launch import run
from isogrid.ir import kernel as k
from isogrid.ir.types import Access, Scalar, Space
from isogrid.support.errors import CompilerBug

from .build import (
    BOOL,
    F32,
    FILE,
    I32,
    I64,
    U8,
    U32,
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
    text,
)


@pytest.fixture(autouse=True)
def source() -> Any:
    """The author's file, so that messages can quote line 3."""
    linecache.cache[FILE] = (0, None, ["\n", "\n", "    y[i] = x[i] + 1\n"], FILE)
    yield
    del linecache.cache[FILE]


def evaluate(node: k.Expr, count: int = 4, element: Scalar = I32, **arrays: Any) -> Any:
    """Store an expression to out[gid] and launch with `count` threads."""
    given = {name: np.asarray(a) for name, a in arrays.items()}
    kinds = {"int32": I32, "int64": I64, "uint32": U32, "float32": F32, "uint64": Scalar.U64}
    parameters = [array(name, kinds[a.dtype.name], Access.IN, index(a.size)) for name, a in given.items()]
    program = kernel(store("out", gid(), value=node, element=element), parameters=(*parameters, array("out", element)))
    return launch(program, bind({**given, "out": np.zeros(count, element.numpy)}, (count,)))


def says(sentence: str, thread: int | None, line: int = 3) -> str:
    where = "" if thread is None else f", thread {thread}"
    quote = "\n    y[i] = x[i] + 1" if line == 3 else ""
    return f"{sentence}\n  in kernel `sample`, {FILE}:{line}:1{where}{quote}"


def test_index() -> None:
    node = load("a", k.Binary("sub", gid(), index(2), I64), type=I32, line=3)
    outcome = evaluate(node, a=np.zeros(4, np.int32))
    assert isinstance(outcome.trap, traps.KernelIndexError)
    assert isinstance(outcome.trap, IndexError)
    assert text(outcome) == says("index -2 is out of range for axis 0 of `a` with extent 4", 0)
    node = load("a", k.Binary("mul", gid(), index(2), I64), type=I32, line=3)
    outcome = evaluate(node, a=np.zeros(4, np.int32))
    assert text(outcome) == says("index 4 is out of range for axis 0 of `a` with extent 4", 2)


def test_index_of_the_first_axis_comes_first() -> None:
    program = kernel(
        k.Store("x", (index(7), index(9)), k.Const(1, I32), I32, Space.GLOBAL, (True, True), span=at(3)),
        parameters=(array("x", I32, Access.INOUT, index(2), index(3)),),
    )
    outcome = launch(program, bind({"x": np.zeros((2, 3), np.int32)}, (1,)))
    assert text(outcome) == says("index 7 is out of range for axis 0 of `x` with extent 2", 0)


@pytest.mark.parametrize(
    ("op", "type", "a", "b", "sentence", "kind"),
    [
        ("add", I32, 2**31 - 1, 1, "2147483647 + 1 does not fit i32", traps.KernelOverflowError),
        ("sub", U32, 1, 2, "1 - 2 does not fit u32", traps.KernelOverflowError),
        ("mul", I32, 65536, -65536, "65536 * -65536 does not fit i32", traps.KernelOverflowError),
        ("pow", I32, -3, 40, "-3 ** 40 does not fit i32", traps.KernelOverflowError),
        ("shl", I32, 3, 31, "3 << 31 does not fit i32", traps.KernelOverflowError),
        ("floordiv", I32, -(2**31), -1, "-2147483648 // -1 does not fit i32", traps.KernelOverflowError),
        ("floordiv", I32, 7, 0, "7 // 0 is a division by zero", traps.KernelZeroDivisionError),
        ("mod", W32, 9, 0, "9 % 0 is a division by zero", traps.KernelZeroDivisionError),
        ("shl", I32, 1, 32, "shift amount 32 is outside the range 0..31", traps.KernelValueError),
        ("shr", U32, 1, -1, "shift amount -1 is outside the range 0..31", traps.KernelValueError),
        (
            "pow",
            I32,
            2,
            -1,
            "integer power with the negative exponent -1: the range is 0 and up",
            traps.KernelValueError,
        ),
    ],
)
def test_binary(op: str, type: Scalar, a: int, b: int, sentence: str, kind: type) -> None:
    right = I32 if op in ("shl", "shr", "pow") else type
    node = k.Binary(op, k.Const(a, type), k.Const(b, right), type, span=at(3))
    outcome = evaluate(node, element=type)
    assert type_of(outcome) is kind
    assert text(outcome) == says(sentence, 0)


def type_of(outcome: Any) -> Any:
    return outcome.trap.__class__


def test_unary() -> None:
    least = k.Const(-(2**31), I32)
    assert text(evaluate(k.Unary("neg", least, I32, span=at(3)))) == says("-(-2147483648) does not fit i32", 0)
    assert text(evaluate(k.Unary("abs", least, I32, span=at(3)))) == says("abs(-2147483648) does not fit i32", 0)


def test_conversion() -> None:
    for value, target, sentence in [
        (3e9, I32, "i32(3000000000.0) is outside the range -2147483648..2147483647"),
        (float("nan"), I32, "i32(nan) is outside the range -2147483648..2147483647"),
        (float("-inf"), W32, "w32(-inf) is outside the range 0..4294967295"),
        (-1.0, U32, "u32(-1.0) is outside the range 0..4294967295"),
    ]:
        node = k.Cast(load("a", gid(), type=F32), target, span=at(3))
        outcome = evaluate(node, 1, target, a=np.array([value], np.float32))
        assert type_of(outcome) is traps.KernelValueError
        assert text(outcome) == says(sentence, 0)
    node = k.Cast(k.Const(2**40, I64), I32, span=at(3))
    assert text(evaluate(node)) == says("i32(1099511627776) is outside the range -2147483648..2147483647", 0)


def test_narrowing_store() -> None:
    program = kernel(
        store("img", gid(), value=k.Binary("add", gid(), index(254), I64), element=U8, line=3),
        parameters=(array("img", U8),),
    )
    outcome = launch(program, bind({"img": np.zeros(4, np.uint8)}, (4,)))
    assert type_of(outcome) is traps.KernelOverflowError
    assert text(outcome) == says("stored value 256 does not fit `img`, whose u8 elements hold 0..255", 2)


def test_step_and_assert() -> None:
    loop = k.For("i", index(0), index(4), load("s", index(0), type=I64), (), I64, span=at(3))
    program = kernel(loop, parameters=(array("s", I64, Access.IN),))
    outcome = launch(program, bind({"s": np.zeros(2, np.int64)}, (2,)))
    assert type_of(outcome) is traps.KernelValueError
    assert text(outcome) == says("range step 0 is not allowed: any other integer is", 0)
    for message, sentence in {"x is finite": "assertion failed: x is finite", "": "assertion failed"}.items():
        check = k.Assert(k.Compare("lt", gid(), index(1)), message, span=at(3))
        outcome = launch(kernel(check, parameters=(array("x", I32),)), bind({"x": np.zeros(3, np.int32)}, (3,)))
        assert type_of(outcome) is traps.KernelAssertionError
        assert text(outcome) == says(sentence, 1)


def test_threads_of_two_axes() -> None:
    body = k.Assert(k.Compare("lt", k.Binary("add", gid(0), gid(1), I64), index(2)), "", span=at(2))
    program = kernel(body, parameters=(), dims=(), extents=(index(2), index(3)), block=(1, 4))
    outcome = launch(program, bind({}, (2, 3)))
    assert text(outcome) == f"assertion failed\n  in kernel `sample`, {FILE}:2:1, thread (0, 2)"


# --- which trap is the first ----------------------------------------------------------------------------------------


def test_values_come_before_indices_and_arrays_stay() -> None:
    x = np.arange(4, dtype=np.int32)
    program = kernel(
        store("x", gid(), value=k.Const(7, I32), element=I32),
        store("x", index(9), value=k.Binary("add", k.Const(2**31 - 1, I32), k.Const(1, I32), I32), element=I32, line=2),
        parameters=(array("x", I32),),
    )
    outcome = launch(program, bind({"x": x}, (4,)))
    assert type_of(outcome) is traps.KernelOverflowError
    assert x.tolist() == [0, 1, 2, 3]


def grouped(*body: k.Statement, **more: Any) -> k.Kernel:
    return kernel(*body, grouped=True, parameters=(array("x", I32),), **more)


def trap_if(condition: k.Expr, line: int) -> k.Statement:
    return k.Assert(k.Unary("not", condition, BOOL, False), f"line {line}", span=at(line))


def same(a: k.Expr, value: int) -> k.Expr:
    return k.Compare("eq", a, index(value))


def test_an_earlier_interval_beats_a_lower_thread() -> None:
    program = grouped(trap_if(same(gid(), 3), 1), k.Barrier(), trap_if(same(gid(), 0), 2))
    for order in (None, 1, 2, 3):
        outcome = run(program, bind({"x": np.zeros(8, np.int32)}, (8,)), order=order)
        assert "line 1" in text(outcome)
        assert "thread 3" in text(outcome)


def test_a_lower_group_beats_an_earlier_interval() -> None:
    program = grouped(trap_if(same(gid(), 5), 1), k.Barrier(), trap_if(same(gid(), 2), 2))
    for order in (None, 1, 2, 3):
        outcome = run(program, bind({"x": np.zeros(8, np.int32)}, (8,)), order=order)
        assert "line 2" in text(outcome)
    launch(program, bind({"x": np.zeros(8, np.int32)}, (8,)))


def test_the_lowest_thread_of_an_interval() -> None:
    program = grouped(trap_if(k.Compare("ge", lid(), index(2)), 1), k.Barrier())
    for order in (None, 1, 2, 3, 4):
        assert "thread 2" in text(run(program, bind({"x": np.zeros(4, np.int32)}, (4,)), order=order))


def add_to(at_index: k.Expr, value: int, line: int = 3, array_name: str = "x") -> k.Atomic:
    return atomic("add", array_name, at_index, k.Const(value, I32), I32, line=line)


def test_total_at_the_end_of_the_launch() -> None:
    x = np.array([0, 2**31 - 3, 5, 2**31 - 3], np.int32)
    program = kernel(add_to(index(3), 1), add_to(index(1), 1, line=2), parameters=(array("x", I32),))
    outcome = launch(program, bind({"x": x}, (3,), N=4))
    assert type_of(outcome) is traps.KernelOverflowError
    assert text(outcome) == says("the total of element 1 of `x` does not fit i32", None), "the first add in the text"
    assert x.tolist() == [0, 2**31 - 3, 5, 2**31 - 3]


def test_partial_sums_do_not_matter() -> None:
    x = np.array([2**31 - 1], np.int32)
    body = (add_to(index(0), 2), add_to(index(0), -1))
    program = kernel(*body, parameters=(array("x", I32),))
    assert launch(program, bind({"x": x.copy()}, (3,), N=1)).trap is not None, "3 more"
    program = kernel(add_to(index(0), 5), add_to(index(0), -5), parameters=(array("x", I32),))
    assert launch(program, bind({"x": x}, (3,), N=1)).trap is None
    assert x[0] == 2**31 - 1


def test_a_total_ranks_after_every_thread() -> None:
    last = trap_if(same(gid(), 3), 1)
    program = kernel(add_to(index(0), 2**31 - 1), last, parameters=(array("x", I32),))
    assert "line 1" in text(launch(program, bind({"x": np.zeros(4, np.int32)}, (4,))))


SHARED = (k.SharedArray("s", I32, (4,)),)


def test_shared_totals_are_settled_at_barriers() -> None:
    add = atomic("add", "s", index(1), k.Const(2**30, I32), I32, Space.SHARED, line=3)
    back = atomic("add", "s", index(1), k.Const(-(2**30), I32), I32, Space.SHARED, line=2)
    over = grouped(add, k.Barrier(), back, shared=SHARED)
    outcome = launch(over, bind({"x": np.zeros(4, np.int32)}, (4,)))
    assert text(outcome) == says("the total of element 1 of `s` does not fit i32", None)
    fits = grouped(add, back, k.Barrier(), add, back, shared=SHARED)
    assert launch(fits, bind({"x": np.zeros(4, np.int32)}, (4,))).trap is None
    at_end = grouped(k.Barrier(), add, shared=SHARED)
    assert launch(at_end, bind({"x": np.zeros(4, np.int32)}, (4,))).trap is not None


def test_global_totals_of_touched_elements_are_settled_at_barriers() -> None:
    """Group 0 overflows element 0 and brings it back after a barrier: a trap only where a plain access touches it."""
    first = k.If(same(lid(), 0), (add_to(index(0), 2**31 - 1), add_to(index(0), 1)))
    back = k.If(same(lid(), 0), (add_to(index(0), -1, line=2),))
    touch = k.If(same(lid(), 0), (k.Evaluate(load("x", index(0), type=I32)),))
    one_group = bind({"x": np.zeros(4, np.int32)}, (4,))
    assert launch(grouped(first, k.Barrier(), back), one_group).trap is None
    touched = grouped(first, k.Barrier(), back, k.Barrier(), touch)
    assert text(launch(touched, one_group)) == says("the total of element 0 of `x` does not fit i32", None)
    later = grouped(first, k.Barrier(), trap_if(same(lid(), 2), 1), touch, k.Barrier(), back)
    assert "the total" in text(launch(later, one_group)), "its interval is the earlier one"


def collective(
    op: str, value: k.Expr, type: Scalar = I32, exclusive: bool = False, checked: bool = True
) -> k.Statement:
    return k.Collective(op, "r", value, type, exclusive, checked, span=at(3))


def test_group_totals() -> None:
    value = load("x", gid(), type=I32)
    keep = store("x", gid(), value=local("r", I32), element=I32)
    x = np.array([2**31 - 1, 1, -1, 0], np.int32)
    summed = grouped(collective("sum", value), keep)
    assert launch(summed, bind({"x": x.copy()}, (4,))).trap is None
    x[2] = 0
    outcome = launch(summed, bind({"x": x.copy()}, (4,)))
    assert text(outcome) == says("the total of `group_sum` does not fit i32", 0)
    outcome = launch(grouped(collective("scan", value), keep), bind({"x": x.copy()}, (4,)))
    assert text(outcome) == says("the total of `group_scan` does not fit i32", 1)
    outcome = launch(grouped(collective("scan", value, exclusive=True), keep), bind({"x": x.copy()}, (4,)))
    assert text(outcome) == says("the total of `group_scan` does not fit i32", 2)


# --- claims of passes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        store("x", gid(), value=k.Binary("add", k.Const(2**31 - 1, I32), k.Const(1, I32), I32, False), element=I32),
        store("x", gid(), value=k.Binary("floordiv", k.Const(1, I32), k.Const(0, I32), I32, False), element=I32),
        store("x", gid(), value=k.Unary("neg", k.Const(-(2**31), I32), I32, False), element=I32),
        store("x", gid(), value=k.Cast(k.Const(2**40, I64), I32, False), element=I32),
        k.Store("x", (index(9),), k.Const(1, I32), I32, Space.GLOBAL, (False,)),
        k.Store("x", (gid(),), index(2**40), I32, Space.GLOBAL, (True,), narrow_checked=False),
        k.For("i", index(0), index(3), index(0), (), I64, step_checked=False),
        k.Atomic("add", "x", (index(0),), k.Const(2**31 - 1, I32), None, I32, Space.GLOBAL, (True,), False),
    ],
    ids=lambda s: type(s).__name__,
)
def test_a_false_claim_is_a_compiler_bug(statement: k.Statement) -> None:
    with pytest.raises(CompilerBug):
        run(kernel(statement, parameters=(array("x", I32),)), bind({"x": np.zeros(4, np.int32)}, (4,)))


def test_a_false_claim_about_a_group_total() -> None:
    program = grouped(collective("sum", k.Const(2**31 - 1, I32), checked=False))
    with pytest.raises(CompilerBug):
        run(program, bind({"x": np.zeros(4, np.int32)}, (4,)))


def test_reading_what_was_proved_written() -> None:
    shared = (k.SharedArray("s", I32, (4,), zeroed=False),)
    program = grouped(k.Evaluate(load("s", lid(), type=I32, space=Space.SHARED)), shared=shared)
    with pytest.raises(CompilerBug):
        run(program, bind({"x": np.zeros(4, np.int32)}, (4,)))
    assert N.name == "N"
