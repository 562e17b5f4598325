"""Warp operations: shuffles become a `shuffle` from a source lane that is always inside the warp.

warp_shuffle_up(v, d)   ->   shuffle from lane - d, or from the own lane where that is outside 0..width-1
"""

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir import sites
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar
from isogrid.lowering.builder import Builder
from isogrid.lowering.expressions import lower_expression, lower_query
from isogrid.lowering.machine import literal, op, resized, test
from isogrid.support.errors import CompilerBug

#: No warp is wider, so a lane operand beyond it in either direction names no lane of any.
_BEYOND = 64


def lower_warp_collective(builder: Builder, statement: k.WarpCollective) -> None:
    value = lower_expression(builder, statement.value)
    lane: d.Expr | None = None
    name = statement.op
    if statement.lane is not None:
        value = builder.atom(value)
        lane = builder.atom(_source_lane(builder, statement, lower_expression(builder, statement.lane)), "lane")
        name = "shuffle"
    total = None
    if name in ("sum", "scan") and statement.total_checked and statement.type.is_checked:
        total = builder.site(sites.collective_site(statement))
    builder.emit(
        d.WarpCollective(
            name, statement.target, value, lane, statement.type, statement.exclusive, total, span=statement.span
        )
    )


def _source_lane(builder: Builder, statement: k.WarpCollective, operand: d.Expr) -> d.Expr:
    """The lane that this thread reads, an i64 in 0..width-1; exact for every integer operand."""
    if statement.lane is None:
        raise CompilerBug(f"{statement.span}: a shuffle without a lane")
    type = statement.lane.type
    width = builder.kernel.warp
    if statement.op == "shuffle":
        # The width is a power of two, so the low bits are the value modulo the width, of negative numbers too.
        return op("iand", Machine.I64, resized(operand, type, Machine.I64), literal(width - 1, Machine.I64))
    own = builder.atom(lower_query(builder, k.Query("lane_id", None)), "lane")
    near = _clamped(builder, resized(operand, type, Machine.I64), type)
    name = {"shuffle_up": "isub", "shuffle_down": "iadd", "shuffle_xor": "ixor"}[statement.op]
    source = builder.atom(op(name, Machine.I64, own, near), "source")
    inside = test("ult", source, literal(width, Machine.I64))
    return op("select", Machine.I64, inside, source, own)


def _clamped(builder: Builder, operand: d.Expr, type: Scalar) -> d.Expr:
    """The operand, or a number that is as far outside every warp: arithmetic on it is then exact."""
    if not type.is_signed:
        return op("umin", Machine.I64, operand, literal(_BEYOND, Machine.I64))
    low = op("smax", Machine.I64, operand, literal(-_BEYOND, Machine.I64))
    return op("smin", Machine.I64, low, literal(_BEYOND, Machine.I64))
