"""Conversions between types: the table of spec 1.2, cell by cell. A pair that is absent is refused."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from isogrid.builtins import floats, integers
from isogrid.builtins.meaning import Trapped
from isogrid.builtins.table import Conversion
from isogrid.ir.traps import TrapKind
from isogrid.ir.types import Scalar

_COMPUTING_INTEGERS: Final = (Scalar.I32, Scalar.I64, Scalar.U32, Scalar.U64)
_NARROW_INTEGERS: Final = (Scalar.I8, Scalar.I16, Scalar.U8, Scalar.U16)
_MODULAR: Final = (Scalar.W32, Scalar.W64)
_FLOATS: Final = (Scalar.F32, Scalar.F64)

#: The types that a value in a kernel may have.
COMPUTING: Final = (Scalar.BOOL, *_COMPUTING_INTEGERS, *_MODULAR, *_FLOATS)
#: Floats that only elements have: they are computed with as f32.
STORED_FLOATS: Final = (Scalar.F16, Scalar.BF16)
#: The types that only elements have: targets of a store, sources of a load.
STORAGE: Final = (*_NARROW_INTEGERS, *STORED_FLOATS)


def integer_to_integer(target: Scalar, value: Any) -> int:
    """A value of any integer type or bool as a checked integer: itself, or a trap."""
    if target.holds(value):
        return int(value)
    raise Trapped(TrapKind.VALUE, value)


def integer_to_modular(target: Scalar, value: Any) -> int:
    return integers.wrap(target, int(value))


def integer_to_float(target: Scalar, value: Any) -> Any:
    """One rounding; a checked integer reaches f16 and bf16 through f32."""
    if target in STORED_FLOATS:
        return floats.number(target, floats.from_integer(Scalar.F32, int(value)))
    return floats.from_integer(target, int(value))


def float_to_integer(target: Scalar, value: Any) -> int:
    """trunc(value), which must fit (a w-type counts as unsigned); NaN and infinities trap."""
    if math.isfinite(value):
        whole = int(value)
        if target.holds(whole):
            return whole
    raise Trapped(TrapKind.VALUE, value)


def float_to_float(target: Scalar, value: Any) -> Any:
    """One rounding, overflow to infinity; a NaN becomes the canonical one."""
    return floats.number(target, math.nan if value != value else value)


def to_bool(target: Scalar, value: Any) -> bool:
    return bool(value != 0)


def same(target: Scalar, value: Any) -> Any:
    return value


def _meaning(source: Scalar, target: Scalar) -> Callable[..., Any] | None:
    """The cell of the table, or None where the language refuses."""
    if source is target:
        return same
    if target is Scalar.BOOL:
        return to_bool
    if target.is_checked:
        return float_to_integer if source.is_float else integer_to_integer
    if target.is_modular:
        return float_to_integer if source.is_float else integer_to_modular
    if source.is_float:
        return float_to_float
    if target in STORED_FLOATS and not source.is_checked:
        return None
    return integer_to_float


def _can_trap(source: Scalar, target: Scalar) -> bool:
    """Whether some value of `source` has no conversion to `target`."""
    if source is target or not target.is_integer or source is Scalar.BOOL:
        return False
    if source.is_float:
        return True
    return target.is_checked and not (target.holds(source.minimum) and target.holds(source.maximum))


def _row(source: Scalar, target: Scalar) -> Conversion | None:
    meaning = _meaning(source, target)
    if meaning is None:
        return None
    integer = source.is_checked and target.is_checked
    return Conversion(
        source,
        target,
        meaning,
        can_trap=_can_trap(source, target),
        widens=target is Scalar.I64 and source in (Scalar.I32, Scalar.U32),
        narrows=integer and target.bits < source.bits,
    )


_PAIRS: Final = [(s, t) for s in COMPUTING for t in (*COMPUTING, *STORAGE)]
#: Every accepted conversion by source and target; sources are computing types.
CONVERSIONS: Final[Mapping[tuple[Scalar, Scalar], Conversion]] = {
    (source, target): row for source, target in _PAIRS if (row := _row(source, target)) is not None
}


def conversion(source: Scalar, target: Scalar) -> Conversion | None:
    """How `target(x)` (or a store) converts a value of type `source`; None where the language refuses it."""
    return CONVERSIONS.get((source, target))


def store_conversion(source: Scalar, element: Scalar) -> Conversion | None:
    """The conversion that a store of a `source` value to an `element` array makes by itself; None: it must be written.

    Only equal types, an f32 that is stored as itself, and integers into narrower integers need no written conversion.
    """
    row = CONVERSIONS.get((source, element))
    if row is not None and (source is element or row.narrows):
        return row
    return None


def refusal(source: Scalar, target: Scalar) -> str:
    """Why `target(x)` of a `source` value is refused, with what to write instead; "" where it is accepted."""
    if (source, target) in CONVERSIONS:
        return ""
    if target in STORED_FLOATS:
        return f"a {source.value} does not convert to {target.value}; convert it to f32 first"
    return f"a {source.value} does not convert to {target.value}"


def widen(element: Scalar, value: Any) -> Any:
    """A loaded element as a value of its computing type (exact)."""
    return floats.number(Scalar.F32, value) if element in STORED_FLOATS else value
