"""Expressions of kernel IR: typed, immutable, one class per kind. `ir/kernel.py` says what they mean."""

from dataclasses import field
from typing import TypeAlias

from isogrid.diagnostics.span import NOWHERE, Span
from isogrid.ir.types import INDEX, Scalar, Space
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Const:
    """A literal. `value` is the integer itself, 0 or 1 for bool, and the IEEE bit pattern for floats."""

    value: int
    type: Scalar
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Local:
    """The present value of the local variable `name`."""

    name: str
    type: Scalar
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ScalarValue:
    """The value of the scalar parameter `name`, the same for the whole launch."""

    name: str
    type: Scalar
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DimValue:
    """The size bound to the dimension `name` at this launch (an index, never negative)."""

    name: str
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)

    @property
    def type(self) -> Scalar:
        return INDEX


@dataclass(frozen=True, slots=True)
class Query:
    """Where this thread stands.

    `kind` is one of gid, lid, group_id, group_size, num_groups, grid_size, lane_id, warp_id. `axis` counts from 0, the
    slowest extent; None asks for the linear value in C order. Axes are those of the kernel's rank. lane_id and warp_id
    have no axis: they are the linear lid modulo the warp width, and divided by it.
    """

    kind: str
    axis: int | None
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)

    @property
    def type(self) -> Scalar:
        return INDEX


@dataclass(frozen=True, slots=True)
class Unary:
    """`op` is neg, invert (~), not or abs."""

    op: str
    operand: "Expr"
    type: Scalar
    checked: bool = True
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """`op` is add sub mul div floordiv mod pow shl shr and or xor min max.

    Both operands have `type`, except that the amount of a shift and the exponent of an integer power may be any
    integer type.
    """

    op: str
    left: "Expr"
    right: "Expr"
    type: Scalar
    checked: bool = True
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """`op` is eq ne lt le gt ge, on two operands of one type; the result is a bool."""

    op: str
    left: "Expr"
    right: "Expr"
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)

    @property
    def type(self) -> Scalar:
        return Scalar.BOOL


@dataclass(frozen=True, slots=True)
class Logical:
    """Short-circuit `and` / `or` of two bools: the right side is evaluated only when it decides."""

    op: str
    left: "Expr"
    right: "Expr"
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)

    @property
    def type(self) -> Scalar:
        return Scalar.BOOL


@dataclass(frozen=True, slots=True)
class Choose:
    """`then if condition else otherwise`; only the chosen side is evaluated."""

    condition: "Expr"
    then: "Expr"
    otherwise: "Expr"
    type: Scalar
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """`type(value)` by the conversion table of the language; `checked` conversions trap when the value does not fit."""

    value: "Expr"
    type: Scalar
    checked: bool = True
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A pure function of the builtin tables (`sqrt`, `fma`, `bitcast`, `saturate`...); all arguments are evaluated."""

    name: str
    arguments: tuple["Expr", ...]
    type: Scalar
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Load:
    """Element `array[indices]`, widened to its computing type `type`.

    The indices are evaluated first, then checked axis by axis; `checked[k]` is False where axis k is proved in range.
    """

    array: str
    indices: tuple["Expr", ...]
    type: Scalar
    space: Space
    checked: tuple[bool, ...]
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


Expr: TypeAlias = (
    Const | Local | ScalarValue | DimValue | Query | Unary | Binary | Compare | Logical | Choose | Cast | Call | Load
)
