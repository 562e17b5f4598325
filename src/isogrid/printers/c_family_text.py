"""Pieces of C text: types, precedence, literals. A piece knows its type, so that casts stand where C needs them."""

import struct
from decimal import Decimal
from enum import Enum
from typing import Final

from isogrid.ir.device import Literal, Machine
from isogrid.ir.types import Scalar
from isogrid.support.records import dataclass


class CType(Enum):
    """A type of the text. `i8 u8 i16 u16 u32 i64 u64` are typedefs of the prelude, the same in every language."""

    BOOL = "bool"
    I8 = "i8"
    U8 = "u8"
    I16 = "i16"
    U16 = "u16"
    I32 = "int"
    U32 = "u32"
    I64 = "i64"
    U64 = "u64"
    F32 = "float"
    F64 = "double"

    @property
    def bits(self) -> int:
        return _BITS[self]

    @property
    def is_signed(self) -> bool:
        return self in (CType.I8, CType.I16, CType.I32, CType.I64)

    @property
    def is_float(self) -> bool:
        return self in (CType.F32, CType.F64)

    @property
    def is_integer(self) -> bool:
        return self is not CType.BOOL and not self.is_float

    @property
    def suffix(self) -> str:
        """What names of helper functions end with."""
        return {"int": "i32", "float": "f32", "double": "f64"}.get(self.value, self.value)


_BITS: Final = {
    CType.BOOL: 8,
    CType.I8: 8,
    CType.U8: 8,
    CType.I16: 16,
    CType.U16: 16,
    CType.I32: 32,
    CType.U32: 32,
    CType.I64: 64,
    CType.U64: 64,
    CType.F32: 32,
    CType.F64: 64,
}
_SIGNED: Final = {8: CType.I8, 16: CType.I16, 32: CType.I32, 64: CType.I64}
_UNSIGNED: Final = {8: CType.U8, 16: CType.U16, 32: CType.U32, 64: CType.U64}


def signed(bits: int) -> CType:
    return _SIGNED[bits]


def unsigned(bits: int) -> CType:
    return _UNSIGNED[bits]


def machine_type(machine: Machine) -> CType:
    """The type that holds values of this machine type, integers as signed ones."""
    match machine:
        case Machine.I1:
            return CType.BOOL
        case Machine.F32:
            return CType.F32
        case Machine.F64:
            return CType.F64
        case _:
            return signed(machine.bits)


def element_type(scalar: Scalar) -> CType:
    """The type of an element or argument in memory; a bool is a byte, f16 and bf16 are their bits."""
    if scalar in (Scalar.F32, Scalar.F64):
        return CType.F32 if scalar is Scalar.F32 else CType.F64
    return signed(scalar.bits) if scalar.is_signed else unsigned(scalar.bits)


#: How tightly operators bind, as in C.
PRIMARY: Final = 16
UNARY: Final = 14
PRECEDENCE: Final = {
    "*": 13, "/": 13, "%": 13, "+": 12, "-": 12, "<<": 11, ">>": 11, "<": 10, "<=": 10, ">": 10, ">=": 10,
    "==": 9, "!=": 9, "&": 8, "^": 7, "|": 6, "&&": 5, "||": 4, "?": 3,
}  # fmt: skip
#: Operators whose operands are bracketed unless they are plain: few readers know how these bind.
_SURPRISING: Final = frozenset({"<<", ">>", "&", "^", "|"})


@dataclass(frozen=True, slots=True)
class Text:
    """An expression in C. `sign` is its outermost binary operator, "" where there is none."""

    text: str
    type: CType
    precedence: int = PRIMARY
    sign: str = ""

    def inside(self, sign: str, *, right: bool = False) -> str:
        """This text as an operand of `sign`, in brackets where it needs them."""
        outer = PRECEDENCE[sign]
        if not self.sign:
            return self.text if self.precedence > outer else f"({self.text})"
        if self.sign == sign and not right and sign not in ("<<", ">>"):
            return self.text
        loose = self.precedence < outer or (right and self.precedence == outer)
        unclear = sign in _SURPRISING or (self.sign in _SURPRISING and sign != "?") or (sign, self.sign) == ("||", "&&")
        return f"({self.text})" if loose or unclear else self.text

    @property
    def as_unary(self) -> str:
        """This text as the operand of a prefix operator or a cast."""
        return (
            self.text
            if self.precedence > UNARY or (self.precedence == UNARY and self.text[0] in "(!~")
            else (f"({self.text})")
        )


def infix(sign: str, left: Text, right: Text, type: CType) -> Text:
    """`left sign right`."""
    text = f"{left.inside(sign)} {sign} {right.inside(sign, right=True)}"
    return Text(text, type, PRECEDENCE[sign], sign)


def prefix(sign: str, operand: Text, type: CType) -> Text:
    """`sign operand`."""
    inner = operand.as_unary
    # `--x` would be another operator.
    return Text(f"{sign}({inner})" if inner.startswith(sign) else f"{sign}{inner}", type, UNARY)


def call(function: str, *arguments: Text, type: CType) -> Text:
    """`function(arguments)`."""
    return Text(f"{function}({', '.join(a.text for a in arguments)})", type)


def cast(operand: Text, type: CType) -> Text:
    """The operand in another type; nothing where it has it."""
    if operand.type is type:
        return operand
    return Text(f"({type.value}){operand.as_unary}", type, UNARY)


def integer_literal(value: int, type: CType) -> Text:
    """A literal of an integer type that holds `value`. No suffix says 64 bits in every language: a cast does."""
    if type is CType.U32:
        return Text(f"{value}u", type)
    if type is CType.U64:
        return Text(f"(u64)0x{value:x}" if value >> 31 else f"(u64){value}", type, UNARY)
    if value == -(1 << 31) and type is CType.I32:
        return Text("(-2147483647 - 1)", type)
    if value == -(1 << 63):
        return Text("(-(i64)9223372036854775807 - 1)", type)
    if -(1 << 31) < value < 1 << 31:
        return Text(str(value), CType.I32, PRIMARY if value >= 0 else UNARY)
    return Text(f"(i64){value}" if value >= 0 else f"-(i64){-value}", type, UNARY)


def float_literal(bits: int, type: CType) -> Text | None:
    """A finite literal that is exact in every compiler: a short decimal, else a hexadecimal one. None: not finite."""
    size = type.bits // 8
    value: float = struct.unpack("<f" if size == 4 else "<d", bits.to_bytes(size, "little"))[0]
    if value != value or value in (float("inf"), float("-inf")):
        return None
    suffix = "f" if size == 4 else ""
    negative = bits >> (type.bits - 1)
    magnitude = abs(value)
    exact = Decimal(magnitude)
    decimal = f"{exact:f}"
    if magnitude == 0 or (len(decimal) <= 9 and Decimal(decimal) == exact and magnitude >= 1e-4):
        text = decimal if "." in decimal else f"{decimal}.0"
    else:
        text = _hexadecimal(magnitude)
    return Text(f"{'-' if negative else ''}{text}{suffix}", type, UNARY if negative else PRIMARY)


def _hexadecimal(value: float) -> str:
    mantissa, _, exponent = value.hex().partition("p")
    mantissa = mantissa.rstrip("0") if "." in mantissa else mantissa
    return f"{mantissa.rstrip('.')}p{exponent}"


def signed_value(node: Literal) -> int:
    """The value of an integer literal, read as signed."""
    bits = node.type.bits
    if node.type is Machine.I1:
        return node.bits
    return node.bits - ((node.bits >> (bits - 1)) << bits)
