"""Pure functions of the builtin tables as machine operations.

`copysign(x, y)` becomes `select(fisnan(y), fabs(x), fcopysign(x, y))`: a NaN counts as the canonical one.
"""

from collections.abc import Callable

from isogrid.builtins.elementary import ELEMENTARY, compiled_of
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.lowering.builder import Builder
from isogrid.lowering.casts import canonical, saturated
from isogrid.lowering.elementary import lower_elementary
from isogrid.lowering.lacking import note_if_lacking
from isogrid.lowering.machine import (
    MACHINE,
    infinity,
    integer_of,
    literal,
    negated,
    op,
    resized,
    test,
)
from isogrid.support.errors import CompilerBug

_ELEMENTARY = frozenset(row.name for row in ELEMENTARY)

#: Functions that are one machine operation on floats.
_FLOAT_OPERATIONS = {
    "sqrt": "fsqrt",
    "fma": "fma",
    "floor": "ffloor",
    "ceil": "fceil",
    "trunc": "ftrunc",
    "round": "froundeven",
    "fmod": "ffmod",
}


def lower_call(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    """A pure function applied to arguments that have been evaluated."""
    if node.name in _FLOAT_OPERATIONS:
        return op(_FLOAT_OPERATIONS[node.name], MACHINE[node.type], *arguments, span=node.span)
    lower = _LOWERINGS.get(node.name)
    if lower is None and node.name in _ELEMENTARY:
        return _elementary(builder, node, arguments)
    if lower is None:
        raise CompilerBug(f"{node.span}: no lowering for the function `{node.name}`")
    return lower(builder, node, arguments)


def _elementary(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    """The compiled function; an exponent of `ldexp` is an i64 there."""
    wide = tuple(
        resized(value, argument.type, d.Machine.I64) if argument.type is Scalar.I32 else value
        for value, argument in zip(arguments, node.arguments, strict=True)
    )
    name = compiled_of(node.name, node.arguments[0].type)
    note_if_lacking(builder, name, node.span)
    return lower_elementary(builder, name, wide)


def _select(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    return op("select", MACHINE[node.type], *arguments, span=node.span)


def _clamp(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    """min(max(value, low), high)."""
    value, low, high = arguments
    sign = "f" if node.type.is_float else "s" if node.type.is_signed else "u"
    machine = MACHINE[node.type]
    return op(f"{sign}min", machine, op(f"{sign}max", machine, value, low), high, span=node.span)


def _count_bits(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    """popcount, clz and ctz: a count is small, so it widens or narrows without a check."""
    (value,) = arguments
    count = op(node.name.rstrip("0123456789"), value.type, value, span=node.span)
    return resized(count, _unsigned_of(node.arguments[0].type), MACHINE[node.type])


def _unsigned_of(type: Scalar) -> Scalar:
    return Scalar.U64 if type.bits == 64 else Scalar.U32


def _mulhi(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    name = "smulhi" if node.type.is_signed else "umulhi"
    return op(name, MACHINE[node.type], *arguments, span=node.span)


def _rotate(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    """The amount counts modulo the width, and the width divides 2^32: low bits of the amount are enough."""
    value, amount = arguments
    return op("rotl", value.type, value, resized(amount, node.arguments[1].type, value.type), span=node.span)


def _isnan(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    return test("fisnan", *arguments, span=node.span)


def _isinf(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    (value,) = arguments
    return test("feq", op("fabs", value.type, value), infinity(value.type), span=node.span)


def _isfinite(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    (value,) = arguments
    return test("flt", op("fabs", value.type, value), infinity(value.type), span=node.span)


def _copysign(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    value, sign = builder.atom(arguments[0]), builder.atom(arguments[1])
    machine = MACHINE[node.type]
    signed = op("fcopysign", machine, value, sign)
    return op("select", machine, test("fisnan", sign), op("fabs", machine, value), signed, span=node.span)


def _signbit(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    value = builder.atom(arguments[0])
    integer = integer_of(value.type)
    negative = test("slt", op("bits", integer, value), literal(0, integer))
    return test("iand", negated(test("fisnan", value)), negative, span=node.span)


def _bitcast(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    (value,) = arguments
    source, target = node.arguments[0].type, node.type
    if source.is_float == target.is_float:
        return value
    if source.is_float:
        value = canonical(builder.atom(value))
    return op("bits", MACHINE[target], value, span=node.span)


def _is_power_of_two(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    value = builder.atom(arguments[0])
    zero = literal(0, value.type)
    positive = test("slt" if node.arguments[0].type.is_signed else "ult", zero, value)
    below = op("isub", value.type, value, literal(1, value.type))
    return test("iand", positive, test("ieq", op("iand", value.type, value, below), zero), span=node.span)


def _saturate(builder: Builder, node: k.Call, arguments: tuple[d.Expr, ...]) -> d.Expr:
    """The result for a storage type has the type that it widens to."""
    target = Scalar(node.name.removeprefix("saturate_"))
    value = saturated(builder, arguments[0], node.arguments[0].type, target)
    return resized(value, target, MACHINE[node.type])


_LOWERINGS: dict[str, Callable[[Builder, k.Call, tuple[d.Expr, ...]], d.Expr]] = {
    "select": _select,
    "clamp": _clamp,
    **{f"{name}{width}": _count_bits for name in ("popcount", "clz", "ctz") for width in (32, 64)},
    "mulhi": _mulhi,
    "rotate": _rotate,
    "isnan": _isnan,
    "isinf": _isinf,
    "isfinite": _isfinite,
    "copysign": _copysign,
    "signbit": _signbit,
    "bitcast": _bitcast,
    "is_power_of_two": _is_power_of_two,
    **{f"saturate_{target.value}": _saturate for target in Scalar if target.is_checked},
}
