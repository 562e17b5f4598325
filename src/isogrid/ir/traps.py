"""Trap sites: the places of a kernel that can end a thread, as data that every tier numbers the same way."""

from dataclasses import dataclass
from enum import Enum

from isogrid.diagnostics.span import Span
from isogrid.ir.types import Scalar


class TrapKind(Enum):
    """What went wrong; the exception that it becomes is in `isogrid.traps`."""

    INDEX = "index"
    OVERFLOW = "overflow"
    TOTAL = "total"
    ZERO_DIVISION = "zero division"
    VALUE = "value"
    ASSERTION = "assertion"


@dataclass(frozen=True, slots=True)
class TrapSite:
    """One check of a kernel.

    `subject` and `detail` fill the message: for INDEX the array's name and the axis; for OVERFLOW the operator's symbol
    ("+", "<<", "store", "abs", "-x") and the type's name; for TOTAL the array (or "group_sum") and the type; for
    ZERO_DIVISION the operator; for VALUE what the value is for ("shift amount", "conversion", "step", "exponent") and
    the range as text; for ASSERTION the message. `operands` are the types of the values that the trap reports: INDEX
    (index, extent), OVERFLOW (left, right) or (operand,), TOTAL (element index, total), ZERO_DIVISION (dividend,),
    VALUE (value,).
    """

    kind: TrapKind
    span: Span
    subject: str
    detail: str = ""
    operands: tuple[Scalar, ...] = ()
