"""Machine types of scalar types, and short constructors of device-IR expressions.

op("iadd", Machine.I64, a, literal(1, Machine.I64))
"""

from typing import Final

from isogrid.diagnostics.span import NOWHERE, Span
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar

#: The machine type of a value of each scalar type, in a register or as loaded.
MACHINE: Final[dict[Scalar, Machine]] = {
    Scalar.BOOL: Machine.I1,
    Scalar.I8: Machine.I8,
    Scalar.U8: Machine.I8,
    Scalar.I16: Machine.I16,
    Scalar.U16: Machine.I16,
    Scalar.I32: Machine.I32,
    Scalar.U32: Machine.I32,
    Scalar.W32: Machine.I32,
    Scalar.I64: Machine.I64,
    Scalar.U64: Machine.I64,
    Scalar.W64: Machine.I64,
    Scalar.F16: Machine.I16,
    Scalar.BF16: Machine.I16,
    Scalar.F32: Machine.F32,
    Scalar.F64: Machine.F64,
}

TRUE: Final = d.Literal(1, Machine.I1)
FALSE: Final = d.Literal(0, Machine.I1)

_INTEGER_OF: Final = {Machine.F32: Machine.I32, Machine.F64: Machine.I64}
_CANONICAL_NAN: Final = {Machine.F32: 0x7FC00000, Machine.F64: 0x7FF8000000000000}
_ONE: Final = {Machine.F32: 0x3F800000, Machine.F64: 0x3FF0000000000000}
_INFINITY: Final = {Machine.F32: 0x7F800000, Machine.F64: 0x7FF0000000000000}


def literal(value: int, type: Machine) -> d.Literal:
    """An integer literal; negative values become two's complement bits."""
    return d.Literal(value & ((1 << type.bits) - 1), type)


def op(name: str, type: Machine, *arguments: d.Expr, span: Span = NOWHERE) -> d.Op:
    return d.Op(name, arguments, type, span=span)


def test(name: str, *arguments: d.Expr, span: Span = NOWHERE) -> d.Op:
    """An operation whose result is a truth value."""
    return d.Op(name, arguments, Machine.I1, span=span)


def both(left: d.Expr, right: d.Expr) -> d.Expr:
    """Conjunction of two truth values, without the trivial cases."""
    if left == TRUE:
        return right
    if right == TRUE:
        return left
    return test("iand", left, right)


def negated(value: d.Expr) -> d.Expr:
    match value:
        case d.Literal():
            return FALSE if value.bits else TRUE
        case d.Op(op="inot"):
            return value.arguments[0]
        case d.Op() | d.Value() | d.Argument() | d.Special() | d.Load():
            return test("inot", value)


def is_atom(value: d.Expr) -> bool:
    """Whether repeating the expression costs nothing."""
    return isinstance(value, d.Literal | d.Value | d.Argument | d.Special)


def integer_of(type: Machine) -> Machine:
    """The integer type as wide as a float type."""
    return _INTEGER_OF[type]


def canonical_nan(type: Machine) -> d.Literal:
    return d.Literal(_CANONICAL_NAN[type], type)


def float_zero(type: Machine) -> d.Literal:
    return d.Literal(0, type)


def float_one(type: Machine) -> d.Literal:
    return d.Literal(_ONE[type], type)


def infinity(type: Machine) -> d.Literal:
    return d.Literal(_INFINITY[type], type)


def resized(value: d.Expr, source: Scalar, target: Machine) -> d.Expr:
    """The integer `value` of type `source` in machine type `target`: widened by its own sign, or its low bits."""
    have = MACHINE[source]
    if have is target:
        return value
    if isinstance(value, d.Literal):
        number = value.bits
        if source.is_signed and number >> (have.bits - 1):
            number -= 1 << have.bits
        return literal(number, target)
    if have.bits > target.bits:
        return op("trunc", target, value)
    return op("sext" if source.is_signed else "zext", target, value)
