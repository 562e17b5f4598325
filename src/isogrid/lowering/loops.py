"""Loops: exact trip counts for `for`, and `while` as an endless loop that breaks.

`for i in range(a, b, 2)` becomes `for i = a step 2 trips select(slt(a, b), udiv(b - a - 1, 2) + 1, 0)`: unsigned, so
that no start, stop and step overflow.
"""

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir import sites
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar
from isogrid.lowering.builder import Builder
from isogrid.lowering.expressions import lower_expression
from isogrid.lowering.machine import FALSE, MACHINE, TRUE, literal, op, resized, test


def lower_for_head(builder: Builder, loop: k.For) -> tuple[d.Expr, d.Expr, d.Expr]:
    """Start, step and trips, all evaluated and checked."""
    machine = MACHINE[loop.type]
    start = builder.atom(lower_expression(builder, loop.start), "start")
    stop = builder.atom(lower_expression(builder, loop.stop), "stop")
    step = builder.atom(lower_expression(builder, loop.step), "step")
    # Mutable variables may change in the body, but start and step are fixed before the first trip.
    start, step = _fixed(builder, start, "start"), _fixed(builder, step, "step")
    if loop.step_checked:
        nonzero: d.Expr = test("ine", step, literal(0, machine))
        if isinstance(step, d.Literal):
            nonzero = TRUE if step.bits else FALSE
        builder.check(nonzero, sites.step_site(loop), step)
    return start, step, _trips(builder, loop.type, start, stop, step)


def _fixed(builder: Builder, value: d.Expr, stem: str) -> d.Expr:
    if isinstance(value, d.Value) and value.name in builder.variables:
        return builder.let(value, stem)
    return value


def _trips(builder: Builder, type: Scalar, start: d.Expr, stop: d.Expr, step: d.Expr) -> d.Expr:
    """The number of trips as an unsigned i64."""
    less = "slt" if type.is_signed else "ult"
    wide_start, wide_stop = resized(start, type, Machine.I64), resized(stop, type, Machine.I64)
    if isinstance(step, d.Literal):
        number = _signed(step, type)
        if number == 0:
            return literal(0, Machine.I64)
        if number > 0:
            return _counted(builder, test(less, start, stop), wide_start, wide_stop, literal(number, Machine.I64))
        return _counted(builder, test(less, stop, start), wide_stop, wide_start, literal(-number, Machine.I64))
    wide_step = resized(step, type, Machine.I64)
    if not type.is_signed:
        return _counted(builder, test(less, start, stop), wide_start, wide_stop, wide_step)
    upwards = builder.let(test("slt", literal(0, step.type), step))
    low = op("select", Machine.I64, upwards, wide_start, wide_stop)
    high = op("select", Machine.I64, upwards, wide_stop, wide_start)
    size = op("select", Machine.I64, upwards, wide_step, op("ineg", Machine.I64, wide_step))
    low, high = builder.let(low), builder.let(high)
    return _counted(builder, test("slt", low, high), low, high, size)


def _signed(value: d.Literal, type: Scalar) -> int:
    bits = value.type.bits
    return value.bits - (1 << bits) if type.is_signed and value.bits >> (bits - 1) else value.bits


def _counted(builder: Builder, some: d.Expr, low: d.Expr, high: d.Expr, size: d.Expr) -> d.Expr:
    """How many multiples of `size` fit between `low` and `high`, where `some` says that low < high."""
    if isinstance(low, d.Literal) and isinstance(high, d.Literal) and isinstance(size, d.Literal):
        return _counted_now(some, low, high, size)
    zero, one = literal(0, Machine.I64), literal(1, Machine.I64)
    distance = high if low == zero else op("isub", Machine.I64, high, low)
    if size == one:
        return builder.let(op("select", Machine.I64, some, distance, zero), "trips")
    # A let keeps a divisor of 0 behind the check of the step.
    last = builder.let(op("udiv", Machine.I64, op("isub", Machine.I64, distance, one), size))
    return builder.let(op("select", Machine.I64, some, op("iadd", Machine.I64, last, one), zero), "trips")


def _counted_now(some: d.Expr, low: d.Literal, high: d.Literal, size: d.Literal) -> d.Expr:
    signed = not (isinstance(some, d.Op) and some.op == "ult")
    first, last = (_as_number(end, signed) for end in (low, high))
    trips = 0 if last <= first else (last - first - 1) // size.bits + 1
    return literal(trips, Machine.I64)


def _as_number(value: d.Literal, signed: bool) -> int:
    return value.bits - (1 << 64) if signed and value.bits >> 63 else value.bits
