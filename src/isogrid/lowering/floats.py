"""Float operators: IEEE machine operations, and Python's `//` and `%` from an exact `fmod`."""

import struct

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.lowering.builder import Builder
from isogrid.lowering.machine import MACHINE, both, float_one, float_zero, op, test
from isogrid.support.errors import CompilerBug

_OPERATIONS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "min": "fmin", "max": "fmax"}
_HALF = {"f32": 0x3F000000, "f64": 0x3FE0000000000000}


def lower_float_binary(builder: Builder, node: k.Binary, left: d.Expr, right: d.Expr) -> d.Expr:
    """A float operator on operands that have been evaluated. Nothing here traps."""
    machine = MACHINE[node.type]
    match node.op:
        case "add" | "sub" | "mul" | "div" | "min" | "max":
            return op(_OPERATIONS[node.op], machine, left, right, span=node.span)
        case "mod":
            return _modulo(builder, node, builder.atom(left), builder.atom(right))
        case "floordiv":
            return _floor_divide(builder, node, builder.atom(left), builder.atom(right))
        case "pow":
            return _power(builder, node, builder.atom(left))
        case _:
            raise CompilerBug(f"{node.span}: no float operator {node.op}")


def _signs_differ(remainder: d.Expr, right: d.Expr) -> d.Expr:
    """Whether a remainder must be moved to the divisor's side: it is not 0 and its sign is the other one."""
    zero = float_zero(right.type)
    differ = test("ixor", test("flt", remainder, zero), test("flt", right, zero))
    return both(test("fne", remainder, zero), differ)


def _modulo(builder: Builder, node: k.Binary, left: d.Expr, right: d.Expr) -> d.Expr:
    machine = MACHINE[node.type]
    zero = float_zero(machine)
    remainder = builder.let(op("ffmod", machine, left, right, span=node.span))
    moved = builder.let(
        op("select", machine, _signs_differ(remainder, right), op("fadd", machine, remainder, right), remainder)
    )
    signed_zero = op("fcopysign", machine, zero, right)
    return op("select", machine, test("feq", moved, zero), signed_zero, moved, span=node.span)


def _floor_divide(builder: Builder, node: k.Binary, left: d.Expr, right: d.Expr) -> d.Expr:
    """CPython's float_floor_div, step for step; `left / right` where the divisor is 0."""
    machine = MACHINE[node.type]
    zero, one = float_zero(machine), float_one(machine)
    half = d.Literal(_HALF[machine.value], machine)
    remainder = builder.let(op("ffmod", machine, left, right, span=node.span))
    plain = builder.let(op("fdiv", machine, op("fsub", machine, left, remainder), right))
    quotient = builder.let(
        op("select", machine, _signs_differ(remainder, right), op("fsub", machine, plain, one), plain)
    )
    floored = builder.let(op("ffloor", machine, quotient))
    above = test("flt", half, op("fsub", machine, quotient, floored))
    rounded = op("select", machine, above, op("fadd", machine, floored, one), floored)
    ratio = builder.let(op("fdiv", machine, left, right))
    signed_zero = op("fcopysign", machine, zero, ratio)
    nonzero = op("select", machine, test("feq", quotient, zero), signed_zero, rounded)
    return op("select", machine, test("feq", right, zero), ratio, nonzero, span=node.span)


def _power(builder: Builder, node: k.Binary, base: d.Expr) -> d.Expr:
    """Literal exponents 0 to 4 by multiplications from left to right."""
    exponent = _literal_exponent(node)
    machine = MACHINE[node.type]
    if exponent == 0:
        return float_one(machine)
    result = base
    for _ in range(exponent - 1):
        result = op("fmul", machine, result, base, span=node.span)
    return result


def _literal_exponent(node: k.Binary) -> int:
    match node.right:
        case k.Const(type=type, value=value) if type.is_integer:
            exponent = value
        case k.Const(type=type, value=value) if type.is_float:
            whole = {float_bits(n, type.bits): n for n in range(5)}
            exponent = whole.get(value, -1)
        case _:
            exponent = -1
    if not 0 <= exponent <= 4:
        raise CompilerBug(f"{node.span}: a float power needs a literal exponent from 0 to 4")
    return exponent


def float_bits(number: int, bits: int) -> int:
    """The IEEE bits of a small whole number."""
    if bits == 32:
        return int(struct.unpack("<I", struct.pack("<f", number))[0])
    return int(struct.unpack("<Q", struct.pack("<d", number))[0])
