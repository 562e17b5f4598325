"""Conversions by the table of the language: the converted value, and a check where the value may not fit.

`i32(x)` of an f32 becomes a check of `-2^31 <= x and x < 2^31` (ordered, so a NaN fails) and `fptosi(x)`.
"""

import struct
from typing import TypeAlias

from isogrid.builtins.conversions import STORED_FLOATS
from isogrid.diagnostics.span import Span
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir import sites
from isogrid.ir.device import Machine
from isogrid.ir.traps import TrapSite
from isogrid.ir.types import Scalar
from isogrid.lowering.builder import Builder
from isogrid.lowering.machine import (
    MACHINE,
    TRUE,
    both,
    canonical_nan,
    float_one,
    float_zero,
    literal,
    op,
    resized,
    test,
)
from isogrid.lowering.stored_floats import stored_float
from isogrid.support.errors import CompilerBug

_MaybeSite: TypeAlias = TrapSite | None


def lower_cast(builder: Builder, node: k.Cast, value: d.Expr) -> d.Expr:
    """`T(x)` on a value that has been evaluated."""
    site = sites.cast_site(node) if node.checked else None
    return converted(builder, value, node.value.type, node.type, site, node.span)


def converted(builder: Builder, value: d.Expr, source: Scalar, target: Scalar, site: _MaybeSite, span: Span) -> d.Expr:
    """`value` of type `source` as a `target`; traps at `site` if it does not fit, never where `site` is None."""
    if source is target:
        return value
    if target in STORED_FLOATS:
        return stored_float(builder, value, source, target, span)
    if source is Scalar.BOOL:
        return _from_bool(value, target)
    if target is Scalar.BOOL:
        return _to_bool(value, source)
    if source.is_float:
        if target.is_float:
            return op("fpext" if target is Scalar.F64 else "fptrunc", MACHINE[target], value, span=span)
        return _float_to_integer(builder, value, source, target, site, span)
    if target.is_float:
        name = "sitofp" if source.is_signed else "uitofp"
        return op(name, MACHINE[target], value, span=span)
    return _integer_to_integer(builder, value, source, target, site)


def widened(value: d.Expr, element: Scalar, span: Span) -> d.Expr:
    """A loaded element as a value of its computing type."""
    if element in STORED_FLOATS:
        return op(f"{element.value}_value", Machine.F32, value, span=span)
    return resized(value, element, MACHINE[element.computing]) if element.is_integer else value


def _from_bool(value: d.Expr, target: Scalar) -> d.Expr:
    machine = MACHINE[target]
    if target.is_float:
        return op("select", machine, value, float_one(machine), float_zero(machine))
    return op("zext", machine, value)


def _to_bool(value: d.Expr, source: Scalar) -> d.Expr:
    machine = MACHINE[source]
    if source.is_float:
        return test("fne", value, float_zero(machine))
    return test("ine", value, literal(0, machine))


def _integer_to_integer(builder: Builder, value: d.Expr, source: Scalar, target: Scalar, site: _MaybeSite) -> d.Expr:
    machine = MACHINE[target]
    if site is not None and target.is_checked:
        value = builder.atom(value)
        builder.check(_fits(value, source, target), site, value)
    return resized(value, source, machine)


def _fits(value: d.Expr, source: Scalar, target: Scalar) -> d.Expr:
    """Whether an integer of type `source` is a value of `target`."""
    machine = MACHINE[source]
    less_equal = "sle" if source.is_signed else "ule"
    ok: d.Expr = TRUE
    if source.minimum < target.minimum:
        ok = test(less_equal, literal(target.minimum, machine), value)
    if source.maximum > target.maximum:
        ok = both(ok, test(less_equal, value, literal(target.maximum, machine)))
    return ok


def _float_to_integer(
    builder: Builder, value: d.Expr, source: Scalar, target: Scalar, site: _MaybeSite, span: Span
) -> d.Expr:
    value = builder.atom(value)
    if site is not None:
        builder.check(float_fits(value, source, target), site, value)
    name = "fptosi" if target.is_signed else "fptoui"
    if MACHINE[target].bits >= 32:
        return builder.let(op(name, MACHINE[target], value, span=span))
    return builder.let(op("trunc", MACHINE[target], op("fptosi", Machine.I32, value, span=span)))


def float_fits(value: d.Expr, source: Scalar, target: Scalar) -> d.Expr:
    """Whether trunc(value) is a value of the integer type `target`: with exact ends on both sides."""
    below = target.minimum - 1
    if round_trips(below, source):
        low = test("flt", float_literal(below, source), value)
    else:
        # No float lies strictly between `minimum - 1` and `minimum`, so the closed test says the same.
        low = test("fle", float_literal(target.minimum, source), value)
    return both(low, test("flt", value, float_literal(target.maximum + 1, source)))


def round_trips(number: int, type: Scalar) -> bool:
    """Whether the whole number is exactly a float of this type."""
    if type is Scalar.F64:
        return int(float(number)) == number
    return int(struct.unpack("<f", struct.pack("<f", number))[0]) == number


def float_literal(number: int, type: Scalar) -> d.Literal:
    """A whole number, exact in this type, as a literal."""
    if not round_trips(number, type):
        raise CompilerBug(f"{number} is not exact in {type.value}")
    if type is Scalar.F64:
        return d.Literal(int(struct.unpack("<Q", struct.pack("<d", number))[0]), Machine.F64)
    return d.Literal(int(struct.unpack("<I", struct.pack("<f", number))[0]), Machine.F32)


def canonical(value: d.Expr) -> d.Expr:
    """A float atom with every NaN replaced by the quiet one that has no sign and no payload."""
    return op("select", value.type, test("fisnan", value), canonical_nan(value.type), value)


def saturated(builder: Builder, value: d.Expr, source: Scalar, target: Scalar) -> d.Expr:
    """`saturate(T, v)` in the machine type of `target`: clamp to its range, truncate, a NaN gives 0."""
    value = builder.atom(value)
    if source is Scalar.BOOL or target is Scalar.BOOL:
        raise CompilerBug("saturate takes numbers")
    if source.is_float:
        return _saturated_float(builder, value, source, target)
    machine = MACHINE[source]
    sign = "s" if source.is_signed else "u"
    if source.minimum < target.minimum:
        value = op(f"{sign}max", machine, value, literal(target.minimum, machine))
    if source.maximum > target.maximum:
        value = op(f"{sign}min", machine, value, literal(target.maximum, machine))
    return resized(value, source, MACHINE[target])


def _saturated_float(builder: Builder, value: d.Expr, source: Scalar, target: Scalar) -> d.Expr:
    machine = MACHINE[target]
    inside = builder.let(float_fits(value, source, target))
    safe = builder.let(op("select", value.type, inside, value, float_zero(value.type)))
    whole = converted(builder, safe, source, target, None, builder.span)
    negative = test("flt", value, float_zero(value.type))
    end = op("select", machine, negative, literal(target.minimum, machine), literal(target.maximum, machine))
    outside = op("select", machine, test("fisnan", value), literal(0, machine), end)
    return op("select", machine, inside, whole, outside)
