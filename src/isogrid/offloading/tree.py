"""Reductions in the 256-wide tree: what each iteration adds to its leaf, how a block of leaves becomes one value.

A leaf starts at the operator's identity. One level cuts the leaves into blocks of 256, pads the last with the identity
and combines slot[t] with slot[t + s] for s = 128, 64 .. 1. Levels repeat until one value is left, at least once. The
start value comes last, as the left operand. Integer results are exact: they are kept in parts that cannot overflow,
and the total is judged once.
"""

import struct
from typing import Final

from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Scalar, Space
from isogrid.offloading.rule3_names import Reduction
from isogrid.support.records import dataclass

#: Leaves that one level combines into one value.
BLOCK: Final = 256


@dataclass(frozen=True, slots=True)
class Part:
    """One accumulator of a reduction: its local, type and operator. `of` says how a contribution enters it."""

    name: str
    type: Scalar
    op: str
    of: str = "value"


def parts_of(reduction: Reduction) -> tuple[Part, ...]:
    """The accumulators of a reduction; sums and products of checked integers have several."""
    name, op, type = reduction.name, reduction.op, reduction.type
    if op == "add" and type.is_checked:
        if type.bits <= 32:
            return (Part(f"{name}.total", INDEX, "add", "wide"),)
        return (Part(f"{name}.low", INDEX, "add", "low"), Part(f"{name}.high", INDEX, "add", "high"))
    if op == "mul" and type.is_checked:
        return (
            Part(f"{name}.modulo", Scalar.W64, "mul", "nonzero"),
            Part(f"{name}.size", Scalar.F64, "mul", "size"),
            Part(f"{name}.zeros", INDEX, "add", "zero"),
        )
    return (Part(name, type, op),)


def identity(part: Part) -> k.Const:
    """The value that changes no other: -0.0 for a float sum, the extremes for `min` and `max`."""
    type = part.type
    if type.is_float:
        value = {"add": -0.0, "mul": 1.0, "min": float("inf"), "max": float("-inf")}[part.op]
        formats = ("<f", "<I") if type is Scalar.F32 else ("<d", "<Q")
        return k.Const(struct.unpack(formats[1], struct.pack(formats[0], value))[0], type)
    if type is Scalar.BOOL:
        return k.Const(1 if part.op == "and" else 0, type)
    everything = -1 if type.is_signed else type.maximum
    values = {"add": 0, "or": 0, "xor": 0, "mul": 1, "and": everything, "min": type.maximum, "max": type.minimum}
    return k.Const(values[part.op], type)


def entered(part: Part, value: k.Expr) -> k.Expr:
    """What a contribution, a local or constant of the reduction's type, adds to a part."""
    match part.of:
        case "value":
            return value
        case "wide":
            return value if value.type is INDEX else k.Cast(value, INDEX, checked=False)
        case "low":
            low = k.Binary("and", value, k.Const((1 << 32) - 1, value.type), value.type, checked=False)
            return low if value.type is INDEX else k.Cast(low, INDEX, checked=False)
        case "high":
            high = k.Binary("shr", value, k.Const(32, INDEX), value.type, checked=False)
            return high if value.type is INDEX else k.Cast(high, INDEX, checked=False)
        case "zero":
            return k.Choose(_is_zero(value), k.Const(1, INDEX), k.Const(0, INDEX), INDEX)
        case "nonzero":
            return k.Cast(_or_one(value), Scalar.W64, checked=False)
        case _:
            return k.Cast(_or_one(value), Scalar.F64, checked=False)


def _is_zero(value: k.Expr) -> k.Expr:
    return k.Compare("eq", value, k.Const(0, value.type))


def _or_one(value: k.Expr) -> k.Expr:
    return k.Choose(_is_zero(value), k.Const(1, value.type), value, value.type)


def combine(part: Part, left: k.Expr, right: k.Expr) -> k.Expr:
    """`left op right` in the part's type."""
    return k.Binary(part.op, left, right, part.type, checked=False)


# --- one level -------------------------------------------------------------------------------------------------------


def level(parts: tuple[Part, ...], lid: k.Expr) -> tuple[tuple[k.Statement, ...], tuple[k.SharedArray, ...]]:
    """Statements that leave the block's value of every part in `part.block`, and the shared arrays that they need."""
    statements: list[k.Statement] = []
    shared: list[k.SharedArray] = []
    for part in parts:
        if part.op in ("min", "max") or (part.op == "add" and not part.type.is_modular):
            op = "sum" if part.op == "add" else part.op
            value = k.Local(part.name, part.type)
            statements.append(k.Collective(op, block_value(part).name, value, part.type, total_checked=False))
        else:
            shared.append(k.SharedArray(f"{part.name}.slots", part.type, (BLOCK,), zeroed=False))
            statements.extend(_by_hand(part, lid))
    return tuple(statements), tuple(shared)


def block_value(part: Part) -> k.Local:
    """The local that holds a block's value after `level`."""
    return k.Local(f"{part.name}.block", part.type)


def _by_hand(part: Part, lid: k.Expr) -> list[k.Statement]:
    """The tree in shared memory, for operators that no group operation has."""
    slots = f"{part.name}.slots"

    def load(index: k.Expr) -> k.Load:
        return k.Load(slots, (index,), part.type, Space.SHARED, (False,))

    def store(value: k.Expr) -> k.Store:
        return k.Store(slots, (lid,), value, part.type, Space.SHARED, (False,), narrow_checked=False)

    found: list[k.Statement] = [store(k.Local(part.name, part.type)), k.Barrier()]
    stride = BLOCK // 2
    while stride:
        other = k.Binary("add", lid, k.Const(stride, INDEX), INDEX, checked=False)
        both = combine(part, load(lid), load(other))
        found += [k.If(k.Compare("lt", lid, k.Const(stride, INDEX)), (store(both),)), k.Barrier()]
        stride //= 2
    found.append(k.Assign(block_value(part).name, load(k.Const(0, INDEX))))
    return found
