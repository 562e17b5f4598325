"""Every operator, conversion and function on corner values: the lowering does what the tables say, traps included."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from isogrid.builtins.conversions import CONVERSIONS
from isogrid.builtins.functions import FUNCTIONS
from isogrid.builtins.operators import OPERATORS
from isogrid.builtins.table import Builtin, Operator, Signature
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Access, Scalar, Space
from tests.lowering.agree import Pair

_SMALL = {
    Scalar.I32: [0, 1, 2, 3, 7, 31, -1, -2, -7],
    Scalar.I64: [0, 1, 2, 3, 7, 63, -1, -2, -7],
    Scalar.U32: [0, 1, 2, 3, 7, 31],
    Scalar.U64: [0, 1, 2, 3, 7, 63],
    Scalar.W32: [0, 1, 2, 3, 7, 31],
    Scalar.W64: [0, 1, 2, 3, 7, 63],
}


def corners(type: Scalar) -> list[Any]:
    """Values where something changes: ends, neighbours of powers of two, zeros, halves, specials."""
    if type is Scalar.BOOL:
        return [False, True]
    if type.is_integer:
        ends = [type.minimum, type.minimum + 1, type.maximum, type.maximum - 1, 1 << (type.bits // 2), 46341]
        return list(dict.fromkeys([*_SMALL.get(type, [0, 1, 5]), *ends, *([64, 32] if type.bits == 64 else [32])]))
    values = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.0, 7.25, -7.25, 255.5, 1e-40, 5e-324, -3e-39]
    values += [2.0**31, 2.0**31 - 1, -(2.0**31), -(2.0**31) - 1, 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 1e30, 3e38]
    return [*values, float("inf"), -float("inf"), float("nan")]


def kernel_of(expression: k.Expr, parameters: tuple[Scalar, ...]) -> k.Kernel:
    """One thread stores an expression over `a[0]`, `b[0]`, ..."""
    names = "abc"[: len(parameters)]
    one = k.Const(1, INDEX)
    arrays = tuple(
        k.ArrayParameter(name, type, (one,), Access.IN) for name, type in zip(names, parameters, strict=True)
    )
    out = k.ArrayParameter("y", expression.type, (one,), Access.OUT)
    store = k.Store(
        "y", (k.Const(0, INDEX),), expression, expression.type, Space.GLOBAL, (False,), narrow_checked=False
    )
    geometry = k.Geometry("grid", (one,), (1,))
    return k.Kernel("corners", (*arrays, out), (), geometry, False, (), (), (), (store,))


def argument(name: str, type: Scalar) -> k.Load:
    return k.Load(name, (k.Const(0, INDEX),), type, Space.GLOBAL, (False,))


def compare_all(expression: k.Expr, parameters: tuple[Scalar, ...], limit: int = 400) -> set[str]:
    """Launch with every combination of corners (thinned evenly where there are many); the kinds of trap seen."""
    pair = Pair(kernel_of(expression, parameters))
    combinations = list(product(*[corners(type) for type in parameters]))
    step = max(1, len(combinations) // limit)
    seen: set[str] = set()
    for values in combinations[::step]:
        with np.errstate(over="ignore"):
            arrays: dict[str, np.ndarray[Any, Any]] = {
                name: np.array([value], dtype=type.numpy)
                for name, type, value in zip("abc", parameters, values, strict=False)
            }
        arrays["y"] = np.zeros(1, dtype=expression.type.numpy)
        seen.add(pair.compare(arrays, (1,)).split(":")[0])
    return seen


OPERATOR_CASES = [
    (row, signature)
    for row in OPERATORS.values()
    for signature in row.signatures
    if not (row.name == "pow" and signature.result.is_float)
]


@pytest.mark.parametrize(
    ("row", "signature"),
    OPERATOR_CASES,
    ids=[f"{r.name}-{'-'.join(p.value for p in s.parameters)}" for r, s in OPERATOR_CASES],
)
def test_operator(row: Operator, signature: Signature) -> None:
    operands = [argument(name, type) for name, type in zip("ab", signature.parameters, strict=False)]
    checked = row.can_trap(signature.parameters[0])
    expression: k.Expr
    match row.kind:
        case "unary":
            expression = k.Unary(row.name, operands[0], signature.result, checked)
        case "binary":
            expression = k.Binary(row.name, operands[0], operands[1], signature.result, checked)
        case _:
            expression = k.Compare(row.name, operands[0], operands[1])
    limit = 40 if row.name in ("pow", "shl", "shr") else 150
    seen = compare_all(expression, signature.parameters, limit)
    never = row.name == "pow" and signature.result.is_modular and not signature.parameters[1].is_signed
    assert never or not checked or seen - {""}, "no corner traps, so the test cannot see a missing check"


LITERAL_DIVISORS = [
    (op, type, value)
    for op in ("floordiv", "mod", "pow", "shl", "shr")
    for type in (Scalar.I32, Scalar.I64, Scalar.U32, Scalar.W64)
    for value in (0, 1, 2, 3, 8, 10, 31, 63, 64, 100, *((-1, -2, -3, -8) if type.is_signed else ()))
]


@pytest.mark.parametrize(("op", "type", "value"), LITERAL_DIVISORS)
def test_literal_right_operand(op: str, type: Scalar, value: int) -> None:
    """Literals take other ways through the lowering: shifts, masks, multiplications in a row."""
    compare_all(k.Binary(op, argument("a", type), k.Const(value, type), type), (type,))


@pytest.mark.parametrize("type", [Scalar.F32, Scalar.F64])
@pytest.mark.parametrize("exponent", range(5))
def test_float_power(type: Scalar, exponent: int) -> None:
    bits = np.array([exponent], dtype=type.numpy).view(f"u{type.size}")[0]
    compare_all(k.Binary("pow", argument("a", type), k.Const(int(bits), type), type, False), (type,))


CONVERSION_CASES = [pair for pair in CONVERSIONS if pair[1].is_computing]


@pytest.mark.parametrize(("source", "target"), CONVERSION_CASES)
def test_conversion(source: Scalar, target: Scalar) -> None:
    row = CONVERSIONS[source, target]
    seen = compare_all(k.Cast(argument("a", source), target, row.can_trap), (source,))
    assert not row.can_trap or seen - {""}


@pytest.mark.parametrize("element", [Scalar.I8, Scalar.I16, Scalar.U8, Scalar.U16, Scalar.I32, Scalar.U32])
@pytest.mark.parametrize("source", [Scalar.I32, Scalar.I64, Scalar.U32, Scalar.U64])
def test_narrowing_store_and_widening_load(element: Scalar, source: Scalar) -> None:
    row = CONVERSIONS[source, element]
    if not row.can_trap and source is not element:
        return
    zero, one = (k.Const(0, INDEX),), k.Const(1, INDEX)
    parameters = (
        k.ArrayParameter("a", source, (one,), Access.IN),
        k.ArrayParameter("m", element, (one,), Access.INOUT),
        k.ArrayParameter("y", element.computing, (one,), Access.OUT),
    )
    body = (
        k.Store("m", zero, argument("a", source), element, Space.GLOBAL, (False,), row.can_trap),
        k.Store("y", zero, argument("m", element.computing), element.computing, Space.GLOBAL, (False,), False),
    )
    pair = Pair(k.Kernel("narrow", parameters, (), k.Geometry("grid", (one,), (1,)), False, (), (), (), body))
    edges = [element.minimum, element.maximum, element.minimum - 1, element.maximum + 1]
    for value in [*corners(source), *(edge for edge in edges if source.holds(edge))]:
        arrays: dict[str, np.ndarray[Any, Any]] = {
            "a": np.array([value], dtype=source.numpy),
            "m": np.zeros(1, dtype=element.numpy),
            "y": np.zeros(1, dtype=element.computing.numpy),
        }
        pair.compare(arrays, (1,))


FUNCTION_CASES = [(row, signature) for row in FUNCTIONS for signature in row.signatures]


@pytest.mark.parametrize(
    ("row", "signature"),
    FUNCTION_CASES,
    ids=[f"{r.name}-{'-'.join(p.value for p in s.parameters)}-{s.result.value}" for r, s in FUNCTION_CASES],
)
def test_function(row: Builtin, signature: Signature) -> None:
    arguments = tuple(argument(name, type) for name, type in zip("abc", signature.parameters, strict=False))
    compare_all(k.Call(row.name, arguments, signature.result), signature.parameters, 60)
