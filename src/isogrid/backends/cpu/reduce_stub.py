"""The native call of an offloaded function that is one reducing loop: reduce.ll with the tables that describe it.

The launch stub's rows and program (stub.py) say how arguments become the loop's argument block; here come the values
per block of iterations, the kernels that fold them, and how the totals become Python numbers.
"""

import ctypes
import struct
from collections.abc import Callable
from typing import Final

from isogrid.backends.cpu import pool
from isogrid.backends.cpu.artifact import CpuArtifact, LoadedVariant
from isogrid.backends.cpu.stub import Builder, Call, Described, NotExpressible, described, is_describable
from isogrid.backends.plan import PartPlan, ReducingCall, TotalPlan
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.support.builtin_function import FASTCALL, KEYWORDS, address_of, lasting, new_builtin

#: Limits of the stack frame in reduce.ll.
_MOST_PARTS: Final = 8
_MOST_TOTALS: Final = 24
_MOST_FOLD_SLOTS: Final = 16

#: Operations of reduce.ll.
_FLOAT: Final = {"add": 0, "mul": 1, "min": 2, "max": 3}
_SIGNED: Final = {"min": 2, "max": 3, "and": 6, "or": 7, "xor": 8}
_UNSIGNED: Final = {"min": 4, "max": 5, "and": 6, "or": 7, "xor": 8}
_MODULAR: Final = {**_UNSIGNED, "add": 9, "mul": 10}
_TOTAL: Final = 11
_HALVES: Final = 12

#: What is returned: nothing, one number, a tuple, what `finish` says.
_NOTHING, _ONE, _TUPLE, _FINISH = range(4)
_FLOAT_FORM, _SIGNED_FORM, _UNSIGNED_FORM, _BOOL_FORM = range(4)


class _Reduce(ctypes.Structure):
    """`%Reduce` of reduce.ll."""

    _fields_ = (
        ("call", Call),
        ("part_count", ctypes.c_int64),
        ("parts", ctypes.c_void_p),
        ("blocks_cell", ctypes.c_int64),
        ("totals", ctypes.c_void_p),
        ("total_count", ctypes.c_int64),
        ("gives", ctypes.c_int64),
        ("outputs", ctypes.c_void_p),
    )


def native_reduction(kernel: k.Kernel, artifact: CpuArtifact, plan: ReducingCall) -> Callable[..., object] | None:
    """The callable, or None where the native side has no way to say something that the call needs."""
    variant = artifact.small
    few = len(plan.parts) <= _MOST_PARTS and len(plan.totals) <= _MOST_TOTALS
    if not few or plan.specialisation.absent or not is_describable(kernel, variant):
        return None
    try:
        call = _call(kernel, variant, plan)
        parts = _table([_part_row(part, variant) for part in plan.parts])
        totals = _table([_total_row(total) for total in plan.totals])
        outputs = _table([[len(plan.outputs), *plan.outputs]])
    except NotExpressible:
        return None
    reduce = _Reduce(
        call=call.call,
        part_count=len(plan.parts),
        parts=address_of(parts),
        blocks_cell=call.call.units_cell,
        totals=address_of(totals),
        total_count=len(plan.totals),
        gives=_gives(plan),
        outputs=address_of(outputs),
    )
    capsule, kept = lasting(reduce)
    owner = (capsule, plan.slow, plan.finish, plan.again, (kept, *call.behind, parts, totals, outputs))
    return new_builtin(plan.definition.name, pool.native_pool().reduce_address, FASTCALL | KEYWORDS, owner)


def _call(kernel: k.Kernel, variant: LoadedVariant, plan: ReducingCall) -> Described:
    """The loop's arguments. Its units are its blocks: groups of one loop."""
    layout = variant.facts.layout
    builder = Builder(kernel, variant, dict(plan.specialisation.constants))
    hidden = {*(name for name, _, _ in plan.scalars), *(part.array for part in plan.parts)}
    rows = builder.rows([p.name for p in plan.definition.parameters], hidden)
    builder.dimensions((*plan.definition.derived, (plan.blocks_name, plan.blocks)))
    for name, type, value in plan.scalars:
        builder.constant_slot(layout.parameters[name], _bits(type, value))
    builder.geometry()
    return described(variant, rows, builder, None)


def _part_row(part: PartPlan, variant: LoadedVariant) -> list[int]:
    fold: LoadedVariant = part.fold.small
    layout = fold.facts.layout
    if layout.slots > _MOST_FOLD_SLOTS or fold.facts.can_trap or fold.facts.unit != "groups":
        raise NotExpressible
    sizes = [layout.dims[name] for name in _fold_sizes(part, layout.dims)]
    slots = [layout.parameters[part.values], layout.parameters[part.blocks], *sizes, *layout.extents]
    return [fold.address, part.type.size, variant.facts.layout.parameters[part.array], *slots]


def _fold_sizes(part: PartPlan, dims: dict[str, int]) -> tuple[str, str]:
    """The dimensions of the values and of their blocks: a kernel that folds has these two, in this order."""
    names = sorted(dims, key=dims.__getitem__)
    if len(names) != 2:
        raise NotExpressible
    return names[0], names[1]


def _total_row(total: TotalPlan) -> list[int]:
    type, start = total.type, _bits(total.type, total.start)
    if type.is_float:
        return [_FLOAT[total.op], total.parts[0], start, 0, 0, _FLOAT_FORM]
    if total.exact:
        # A product has three parts. A long has two, so what is left in one cannot leave 64 bits.
        if total.op != "add":
            raise NotExpressible
        operation = _HALVES if type.bits == 64 else _TOTAL
        form = _SIGNED_FORM if type.is_signed else _UNSIGNED_FORM
        return [operation, total.parts[0], start, type.minimum, _as_signed(type.maximum), form]
    if type is Scalar.BOOL:
        return [_UNSIGNED[total.op], total.parts[0], start, 0, 0, _BOOL_FORM]
    operations = _MODULAR if type.is_modular else _SIGNED if type.is_signed else _UNSIGNED
    form = _SIGNED_FORM if type.is_signed else _UNSIGNED_FORM
    return [operations[total.op], total.parts[0], start, 0, _as_signed((1 << type.bits) - 1), form]


def _gives(plan: ReducingCall) -> int:
    if plan.finish is not None:
        return _FINISH
    return _TUPLE if plan.gives_tuple else _ONE if plan.outputs else _NOTHING


def _bits(type: Scalar, value: object) -> int:
    """A scalar's bits in a slot of the block, as a signed integer of 64 bits."""
    if type is Scalar.F32:
        return int(struct.unpack("<I", struct.pack("<f", value))[0])
    if type is Scalar.F64:
        return int(struct.unpack("<q", struct.pack("<d", value))[0])
    assert isinstance(value, int)
    return _as_signed(value)


def _as_signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _table(rows: list[list[int]]) -> bytearray:
    """The words of all rows."""
    words = [word for row in rows for word in row]
    return bytearray((ctypes.c_int64 * max(len(words), 1))(*words))
