"""Trap sites: the places of a kernel that can end a thread, as data that every tier numbers the same way."""

from enum import Enum

from isogrid.diagnostics.span import Span
from isogrid.ir.types import Scalar
from isogrid.support.records import dataclass


class TrapKind(Enum):
    """What went wrong; the exception that it becomes is in `isogrid.traps`."""

    INDEX = "index"
    OVERFLOW = "overflow"
    TOTAL = "total"
    ZERO_DIVISION = "zero division"
    VALUE = "value"
    ASSERTION = "assertion"
    RACE = "race"


@dataclass(frozen=True, slots=True)
class TrapSite:
    """One check of a kernel.

    `subject` and `detail` fill the message; `isogrid.ir.sites` makes every site. `operands` are the types of the values
    that the trap reports, in order:

    | kind | subject | detail | operands |
    | --- | --- | --- | --- |
    | INDEX | array | axis | index, extent |
    | OVERFLOW | `+ - * ** << // abs -x` | type | left, right; or the operand |
    | OVERFLOW | `store ` and the array | element type | value |
    | TOTAL | array | element type | element in C order |
    | TOTAL | group_sum, group_scan | type | none |
    | ZERO_DIVISION | `//` or `%` | type | dividend |
    | VALUE | shift amount | range | amount |
    | VALUE | conversion | target type | value |
    | VALUE | step, exponent | | value |
    | ASSERTION | message | | none |
    | RACE | array | kinds of both accesses and the place of the first | element in C order, gid of the first |
    """

    kind: TrapKind
    span: Span
    subject: str
    detail: str = ""
    operands: tuple[Scalar, ...] = ()
