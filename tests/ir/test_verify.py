"""The verifier: every rule broken once, and the words for it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from isogrid.diagnostics.span import Span
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar, Space
from isogrid.ir.verify import verify
from isogrid.support.errors import CompilerBug
from tests.ir.examples import BOOL, F32, I64, device_saxpy, local, saxpy

ONE, TRUE = k.Const(1, I64), k.Const(1, BOOL)
I = k.Assign("i", ONE)  # noqa: E741


def load(*indices: k.Expr, array: str = "x", space: Space = Space.GLOBAL, type: Scalar = F32) -> k.Load:
    return k.Load(array, indices, type, space, (True,) * len(indices))


def store(value: k.Expr, array: str = "y", element: Scalar = F32) -> k.Store:
    return k.Store(array, (ONE,), value, element, Space.GLOBAL, (True,))


KERNEL_FAULTS: list[tuple[k.Statement, str]] = [
    (k.Assign("j", local("i")), "`i` is read before every path has assigned it"),
    (k.Evaluate(k.ScalarValue("b", F32)), "no scalar parameter `b`"),
    (k.Evaluate(k.DimValue("M")), "no dimension `M`"),
    (k.Evaluate(k.Query("gid", 1)), "the grid has no axis 1"),
    (k.Evaluate(k.Query("tid", 0)), "no query `tid`"),
    (k.Evaluate(k.Const(2**31, Scalar.I32)), "2147483648 is no i32"),
    (k.Evaluate(k.Const(1, Scalar.U8)), "a value of the storage type u8"),
    (k.Evaluate(k.Unary("plus", ONE, I64)), "no operation `plus`"),
    (k.Evaluate(k.Binary("plus", ONE, ONE, I64)), "no operation `plus`"),
    (k.Evaluate(k.Binary("add", ONE, TRUE, I64)), "the right side is bool and not i64"),
    (k.Evaluate(k.Binary("add", ONE, ONE, F32)), "the left side is i64 and not f32"),
    (k.Evaluate(k.Binary("shl", ONE, TRUE, I64)), "the right side is no integer"),
    (k.Evaluate(k.Compare("lt", ONE, TRUE)), "the left side is i64 and not bool"),
    (k.Evaluate(k.Logical("and", ONE, TRUE)), "the left side is i64 and not bool"),
    (k.Evaluate(k.Choose(TRUE, ONE, TRUE, I64)), "the second choice is bool and not i64"),
    (k.Evaluate(load(ONE, ONE)), "`x` has rank 1"),
    (k.Evaluate(load(TRUE)), "an index is no integer"),
    (k.Evaluate(load(ONE, array="q")), "no array `q`"),
    (k.Evaluate(load(ONE, space=Space.SHARED)), "`x` lives in global memory"),
    (k.Evaluate(load(ONE, type=I64)), "the loaded value is i64 and not f32"),
    (store(ONE), "the stored value is i64 and not f32"),
    (store(load(ONE), array="x"), "`x` is only read"),
    (store(ONE, element=I64), "the element is i64 and not f32"),
    (k.Barrier(), "a barrier in a kernel that is not grouped"),
    (k.Collective("sum", "s", ONE, I64), "a group operation in a kernel that is not grouped"),
    (k.Collective("any", "s", ONE, I64), "the operation has another type"),
    (k.If(ONE, ()), "the condition is i64 and not bool"),
    (k.For("c", ONE, ONE, TRUE, (), I64), "a bound is bool and not i64"),
    (k.While((), ONE, ()), "the condition is i64 and not bool"),
    (k.Scope("s", (k.Scope("s", ()),)), "label `s` is in use"),
    (k.Leave("s"), "no scope `s` is around this"),
    (k.Break(), "no loop is around this"),
    (k.Assert(ONE, "m"), "the condition is i64 and not bool"),
    (k.DeclareLocal("buf", F32, (0,)), "`buf` has an empty extent"),
    (k.DeclareLocal("x", F32, (1,)), "array `x` is declared twice"),
    (k.If(TRUE, (I, k.Assign("i", TRUE))), "local `i` is i64 elsewhere"),
    (k.Atomic("add", "y", (ONE,), load(ONE), load(ONE), F32, Space.GLOBAL, (True,)), "only cas has an expected value"),
]


@pytest.mark.parametrize(("statement", "message"), KERNEL_FAULTS, ids=[m for _, m in KERNEL_FAULTS])
def test_broken_rule_of_kernel_ir(statement: k.Statement, message: str) -> None:
    with pytest.raises(CompilerBug) as caught:
        verify(replace(saxpy(), body=(statement,)), after="fold_constants")
    assert "kernel IR of `saxpy` is malformed after fold_constants:" in str(caught.value)
    assert message in str(caught.value)


def use(name: str) -> k.Evaluate:
    return k.Evaluate(local(name))


C = k.ScalarValue("flag", BOOL)
FLOWS: list[tuple[str, k.Block, bool]] = [
    ("both branches", (k.If(C, (I,), (I,)), use("i")), True),
    ("one branch", (k.If(C, (I,)), use("i")), False),
    ("other branch returns", (k.If(C, (I,), (k.Return(),)), use("i")), True),
    ("after return", (k.Return(), use("i")), True),
    ("loop may not run", (k.For("c", ONE, k.DimValue("N"), ONE, (I,), I64), use("i")), False),
    ("loop runs", (k.For("c", ONE, k.Const(3, I64), ONE, (I,), I64), use("i")), True),
    (
        "loop runs but continues before",
        (k.For("c", ONE, k.Const(3, I64), ONE, (k.If(C, (k.Continue(),)), I), I64), use("i")),
        False,
    ),
    (
        "loop runs but breaks before",
        (k.For("c", ONE, k.Const(3, I64), ONE, (k.If(C, (k.Break(),)), I), I64), use("i")),
        False,
    ),
    ("counter inside", (k.For("c", ONE, k.DimValue("N"), ONE, (use("c"),), I64),), True),
    ("counter after", (k.For("c", ONE, k.DimValue("N"), ONE, (), I64), use("c")), False),
    ("counter after a loop that runs", (k.For("c", ONE, k.Const(3, I64), ONE, (), I64), use("c")), True),
    ("prelude", (k.While((I,), C, ()), use("i")), True),
    ("while body", (k.While((), C, (I,)), use("i")), False),
    ("while true with break", (k.While((), TRUE, (I, k.If(C, (k.Break(),)))), use("i")), True),
    ("scope left early", (k.Scope("s", (k.If(C, (k.Leave("s"),)), I)), use("i")), False),
    ("scope left after", (k.Scope("s", (I, k.If(C, (k.Leave("s"),)))), use("i")), True),
    ("leave out of a loop", (k.Scope("s", (k.While((), TRUE, (I, k.Leave("s"))),)), use("i")), True),
]


@pytest.mark.parametrize(("body", "fine"), [(b, f) for _, b, f in FLOWS], ids=[name for name, _, _ in FLOWS])
def test_definite_assignment(body: k.Block, fine: bool) -> None:
    kernel = replace(saxpy(), parameters=(*saxpy().parameters, k.ScalarParameter("flag", BOOL)), body=body)
    if fine:
        verify(kernel)
    else:
        with pytest.raises(CompilerBug, match="is read before every path has assigned it"):
            verify(kernel)


HEADERS: list[tuple[Callable[[k.Kernel], k.Kernel], str]] = [
    (lambda kernel: replace(kernel, dims=("N", "N")), "a dimension is listed twice"),
    (
        lambda kernel: replace(kernel, shared=(k.SharedArray("t", F32, (4,)),)),
        "shared arrays in a kernel that is not grouped",
    ),
    (lambda kernel: replace(kernel, geometry=k.Geometry("grid", (ONE,), (2048,))), "a block of 2048 threads"),
    (lambda kernel: replace(kernel, geometry=k.Geometry("grid", (ONE,), (2, 2))), "block and grid differ in rank"),
    (
        lambda kernel: replace(kernel, geometry=k.Geometry("grid", (k.Query("gid", 0),), (2,))),
        "which the host does not know",
    ),
    (lambda kernel: replace(kernel, requires=(k.Require(ONE, "n"),)), "a precondition that is no bool"),
    (lambda kernel: replace(kernel, tables=(k.Table("t", F32, (2,), b"1234"),)), "table `t` has 4 bytes"),
    (
        lambda kernel: replace(kernel, parameters=(*kernel.parameters, kernel.parameters[0])),
        "parameter `a` is declared twice",
    ),
]


@pytest.mark.parametrize(("change", "message"), HEADERS, ids=[m for _, m in HEADERS])
def test_broken_rule_of_a_header(change: Callable[[k.Kernel], k.Kernel], message: str) -> None:
    with pytest.raises(CompilerBug, match=message):
        verify(change(saxpy()))


M = d.Machine
D1, DT = d.Literal(1, M.I64), d.Literal(1, M.I1)
DEVICE_FAULTS: list[tuple[d.Statement, str]] = [
    (d.Let("t", d.Value("q", M.I64)), "the value is not declared"),
    (d.If(DT, (d.Let("t", D1), d.Let("t", D1))), "`t` is assigned twice"),
    (d.If(DT, (d.Let("t", D1), d.Let("r", d.Value("t", M.I32)))), "the value is not i32 but i64"),
    (d.Set("v", D1), "the variable `v` is not declared"),
    (d.Let("t", d.Op("frob", (D1,), M.I64)), "no operation `frob`"),
    (d.Let("t", d.Op("iadd", (D1,), M.I64)), "iadd takes 2 operands"),
    (d.Let("t", d.Op("iadd", (D1, DT), M.I64)), "operands of types (i64, i1)"),
    (d.Let("t", d.Op("fadd", (D1, D1), M.I64)), "fadd on i64"),
    (d.Let("t", d.Op("iadd", (D1, D1), M.I32)), "the result is not i32 but i64"),
    (d.Let("t", d.Op("select", (D1, D1, D1), M.I64)), "the condition is not i64 but i1"),
    (d.Let("t", d.Op("sext", (D1,), M.I32)), "sext from i64 to i32"),
    (d.Let("t", d.Op("bits", (D1,), M.F32)), "bits from i64 to f32"),
    (d.Let("t", d.Op("sitofp", (D1,), M.I32)), "sitofp from i64 to i32"),
    (d.Let("t", d.Literal(2, M.I1)), "the bits 2 do not fit i1"),
    (d.Let("t", d.Load("q", D1, M.F32)), "no buffer `q`"),
    (d.Let("t", d.Load("x", D1, M.F64)), "the element is not f64 but f32"),
    (d.Let("t", d.Load("x", DT, M.F32)), "an index of type i1"),
    (d.Store("x", D1, d.Literal(0, M.F32)), "`x` is only read"),
    (d.Check(D1, 0, (D1, D1)), "what is checked is not i64 but i1"),
    (d.Check(DT, 3, ()), "no trap site 3"),
    (d.Check(DT, 0, (D1,)), "operands (i64), and the site reports (i64, i64)"),
    (d.Let("t", d.Argument("scalar", "b", M.F32)), "the parameter `b` is not declared"),
    (d.Let("t", d.Argument("dim", "M", M.I64)), "no dimension `M`"),
    (d.Let("t", d.Special("thread", 1)), "the grid has no axis 1"),
    (d.Barrier(), "a barrier in a kernel that is not grouped"),
    (d.Fill("x"), "`x` is no local buffer"),
    (d.Break(), "no loop is around this"),
    (d.For("c", D1, D1, DT, (), M.I64), "the number of trips is not i1 but i64"),
    (d.Atomic("add", "y", D1, d.Literal(0, M.F32), None, F32, 0), "site 0 is not that of a total"),
]


@pytest.mark.parametrize(("statement", "message"), DEVICE_FAULTS, ids=[m for _, m in DEVICE_FAULTS])
def test_broken_rule_of_device_ir(statement: d.Statement, message: str) -> None:
    with pytest.raises(CompilerBug) as caught:
        verify(replace(device_saxpy(), body=(statement,)))
    assert message in str(caught.value)


def test_a_let_must_dominate_its_use() -> None:
    body = (d.If(DT, (d.Let("t", D1),)), d.Let("r", d.Value("t", M.I64)))
    with pytest.raises(CompilerBug, match="`t` is read before every path has assigned it"):
        verify(replace(device_saxpy(), body=body))


def test_the_place_is_named_and_sound_kernels_pass() -> None:
    verify(saxpy())
    verify(device_saxpy())
    place = Span("saxpy.py", 3, 5, 3, 9)
    with pytest.raises(CompilerBug, match=r"no loop is around this \(saxpy.py:3:5\)"):
        verify(replace(saxpy(), body=(k.Break(span=place),)))
