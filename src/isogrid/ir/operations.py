"""What the operators of kernel IR are called in text, and which machine type each device operation gives."""

from collections.abc import Sequence
from typing import Final

from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar

#: Kernel-IR `Binary.op` to its infix sign. `min` and `max` are written as functions.
BINARY_SIGNS: Final = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "shl": "<<",
    "shr": ">>",
    "and": "&",
    "or": "|",
    "xor": "^",
}
#: Kernel-IR `Compare.op` to its infix sign.
COMPARE_SIGNS: Final = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
UNARY_NAMES: Final = ("neg", "invert", "not", "abs")
FUNCTION_BINARIES: Final = ("min", "max")
LOGICAL_NAMES: Final = ("and", "or")
QUERIES: Final = ("gid", "lid", "group_id", "group_size", "num_groups", "grid_size", "lane_id", "warp_id")
ATOMICS: Final = ("add", "min", "max", "and", "or", "xor", "exchange", "cas", "load", "store")
COLLECTIVES: Final = ("sum", "min", "max", "scan", "any", "all")
ARRAY_FACTS: Final = ("distinct", "is_sorted", "all_in_range", "all_finite")
SHUFFLES: Final = ("shuffle", "shuffle_up", "shuffle_down", "shuffle_xor")
WARP_COLLECTIVES: Final = (*COLLECTIVES, "ballot", *SHUFFLES)
SPECIALS: Final = ("thread", "local", "group", "extent", "groups")

_COMPARES: Final = ("ieq", "ine", "slt", "sle", "ult", "ule", "feq", "fne", "flt", "fle", "fisnan")
_OVERFLOWS: Final = tuple(f"{kind}{op}_overflows" for kind in "su" for op in ("add", "sub", "mul"))
#: Between f32 and the bits of storage types: operand and result.
STORED_FLOATS: Final = {
    "f16_value": (Machine.I16, Machine.F32),
    "f16_bits": (Machine.F32, Machine.I16),
    "bf16_value": (Machine.I16, Machine.F32),
    "bf16_bits": (Machine.F32, Machine.I16),
}
_GIVES_BOOL: Final = frozenset(_COMPARES + _OVERFLOWS)
_WIDTH_CASTS: Final = ("trunc", "sext", "zext", "fpext", "fptrunc", "bits")
_CONVERTS: Final = frozenset((*_WIDTH_CASTS, "sitofp", "uitofp", "fptosi", "fptoui"))


def machine_type(scalar: Scalar) -> Machine:
    """The machine type that holds an element of this scalar type; a bool is an i1, f16 and bf16 are their bits."""
    if scalar is Scalar.BOOL:
        return Machine.I1
    if scalar in (Scalar.F32, Scalar.F64):
        return Machine(scalar.value)
    return Machine(f"i{scalar.bits}")


def natural_type(op: str, arguments: Sequence[Machine]) -> Machine | None:
    """The only type that this device operation can have on these operands, or None for a conversion."""
    if op in _GIVES_BOOL:
        return Machine.I1
    if op in STORED_FLOATS:
        return STORED_FLOATS[op][1]
    if op in _CONVERTS or not arguments:
        return None
    return arguments[1] if op == "select" and len(arguments) > 1 else arguments[0]
