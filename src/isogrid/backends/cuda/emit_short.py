"""64-bit integer operations in 32 bits, where all numbers in them are known to fit.

Index values are i64. The GPU computes in 32 bits: an addition of 64 takes two instructions, a minimum four. LLVM then
drops the conversions between one such operation and the next.
"""

from collections.abc import Callable

from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.printers.c_family_ranges import Interval, Ranges
from isogrid.printers.llvm_ops import Shape, operation
from isogrid.printers.llvm_text import Writer, literal_text

_LOW, _HIGH = -(1 << 31), (1 << 31) - 1
#: Operations whose 32-bit form gives the same number where operands and result fit.
_SIGNED = frozenset({"iadd", "isub", "imul", "ineg", "smin", "smax", "sdiv", "srem", "select", "iand", "ior", "ixor"})
#: Those that must not see a negative number either.
_UNSIGNED = frozenset({"udiv", "urem", "umin", "umax"})
_SHIFTS = frozenset({"shl", "lshr", "ashr"})
_COMPARISONS = frozenset({"ieq", "ine", "slt", "sle", "ult", "ule"})
_EXACT = {"iadd": "add nsw", "isub": "sub nsw", "imul": "mul nsw"}


def is_short(ranges: Ranges | None, node: d.Op) -> bool:
    """Whether an operation on 64-bit integers gives the same in 32 bits."""
    if ranges is None:
        return False
    values = node.arguments[1:] if node.op == "select" else node.arguments
    if not values or any(value.type is not Machine.I64 for value in values):
        return False
    if node.op in _COMPARISONS:
        return all(_fits(ranges.of(value)) for value in values)
    if node.type is not Machine.I64 or not _fits(ranges.of(node)):
        return False
    if node.op in _SHIFTS:
        return _fits(ranges.of(values[0]), 0 if node.op == "lshr" else _LOW) and _fits(ranges.of(values[1]), 0, 31)
    if node.op not in _SIGNED | _UNSIGNED:
        return False
    return all(_fits(ranges.of(value), 0 if node.op in _UNSIGNED else _LOW) for value in values)


def _fits(interval: Interval, low: int = _LOW, high: int = _HIGH) -> bool:
    return low <= interval[0] and interval[1] <= high


def in_32_bits(w: Writer, ranges: Ranges, node: d.Op, evaluate: Callable[[d.Expr], str]) -> str:
    """The value of an operation that `is_short`: an i64, or the i1 of a comparison."""

    def lower(value: d.Expr) -> str:
        if isinstance(value, d.Literal):
            return literal_text(value.bits, Machine.I32)
        text = evaluate(value)
        return text if value.type is Machine.I1 else w.emit(f"trunc i64 {text} to i32")

    operands = [lower(argument) for argument in node.arguments]
    if node.op in _EXACT:
        result = w.emit(f"{_EXACT[node.op]} i32 {operands[0]}, {operands[1]}")
    else:
        op, positive = node.op, all(ranges.of(a)[0] >= 0 for a in node.arguments)
        if op in ("sdiv", "srem") and positive:
            op = f"u{op[1:]}"  # the same of numbers that are not negative, and cheaper
        result = operation(w, op, operands, Machine.I32, Machine.I32, Shape())
    if node.op in _COMPARISONS:
        return result
    return w.emit(f"{'zext nneg' if ranges.of(node)[0] >= 0 else 'sext'} i32 {result} to i64")
