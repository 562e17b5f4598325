"""Element and scalar types: ranges, widths, and the computing type that each storage type widens to when loaded."""

from enum import Enum
from typing import Final

import numpy as np

from isogrid.support import bfloat16


class Scalar(Enum):
    """One scalar type of the language. The value is its name in kernel source and in IR text."""

    BOOL = "bool"
    I8 = "i8"
    I16 = "i16"
    I32 = "i32"
    I64 = "i64"
    U8 = "u8"
    U16 = "u16"
    U32 = "u32"
    U64 = "u64"
    W32 = "w32"
    W64 = "w64"
    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"
    F64 = "f64"

    #: Members are themselves alone; the hash of their names would be computed in Python, hundreds of times a kernel.
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"Scalar.{self.name}"

    @property
    def bits(self) -> int:
        """Width of the type's values; a bool counts as 8, its size in memory."""
        return _BITS[self]

    @property
    def size(self) -> int:
        """Bytes of one element in an array."""
        return self.bits // 8

    @property
    def is_signed(self) -> bool:
        """A checked integer that has negative values."""
        return self in _SIGNED

    @property
    def is_unsigned(self) -> bool:
        """A checked integer without negative values."""
        return self in _UNSIGNED

    @property
    def is_checked(self) -> bool:
        """An integer whose arithmetic traps when the exact result does not fit."""
        return self in _SIGNED or self in _UNSIGNED

    @property
    def is_modular(self) -> bool:
        """An integer modulo 2^n (`w32`, `w64`)."""
        return self in (Scalar.W32, Scalar.W64)

    @property
    def is_integer(self) -> bool:
        """Checked or modular integer; bool is neither."""
        return self.is_checked or self.is_modular

    @property
    def is_float(self) -> bool:
        """IEEE 754 binary floating point, or bfloat16."""
        return self in (Scalar.F16, Scalar.BF16, Scalar.F32, Scalar.F64)

    @property
    def is_computing(self) -> bool:
        """Whether values of this type may be computed with; the others live in arrays only."""
        return self in _COMPUTING

    @property
    def computing(self) -> "Scalar":
        """The type that an element of this type has once it is loaded."""
        return _WIDENED.get(self, self)

    @property
    def minimum(self) -> int:
        """Least value of an integer type."""
        return -(1 << (self.bits - 1)) if self in _SIGNED else 0

    @property
    def maximum(self) -> int:
        """Greatest value of an integer type."""
        return (1 << (self.bits - 1)) - 1 if self in _SIGNED else (1 << self.bits) - 1

    def holds(self, value: int) -> bool:
        """Whether the integer `value` is a value of this integer type."""
        return self.minimum <= value <= self.maximum

    @property
    def numpy(self) -> "np.dtype[np.generic]":
        """The NumPy dtype of an array of these elements (`w32` shares `uint32`). That of bf16 comes from ml_dtypes: a
        TypeError where that package is missing."""
        return bfloat16.bfloat16_dtype() if self is Scalar.BF16 else _NUMPY[self]

    @property
    def numpy_name(self) -> str:
        """How host code spells that dtype."""
        return bfloat16.SPELLING if self is Scalar.BF16 else f"np.{self.numpy.name}"

    @property
    def numpy_numbers(self) -> tuple[int, int]:
        """NumPy's numbers of its dtype: two, for C has two names for one integer width on every platform."""
        wanted = self.numpy
        if self is Scalar.BF16:
            return wanted.num, wanted.num
        characters = {"i": "bhilq", "u": "BHILQ", "b": "?", "f": "efd"}[wanted.kind]
        numbers = [np.dtype(c).num for c in characters if np.dtype(c).itemsize == wanted.itemsize]
        return numbers[0], numbers[-1]

    def is_numpy(self, dtype: "np.dtype[np.generic]") -> bool:
        """Whether arrays of a NumPy dtype hold these elements."""
        return bfloat16.is_bfloat16(dtype) if self is Scalar.BF16 else dtype == _NUMPY[self]


_SIGNED: Final = frozenset({Scalar.I8, Scalar.I16, Scalar.I32, Scalar.I64})
_UNSIGNED: Final = frozenset({Scalar.U8, Scalar.U16, Scalar.U32, Scalar.U64})
_COMPUTING: Final = frozenset(
    {
        Scalar.BOOL,
        Scalar.I32,
        Scalar.I64,
        Scalar.U32,
        Scalar.U64,
        Scalar.W32,
        Scalar.W64,
        Scalar.F32,
        Scalar.F64,
    }
)
_WIDENED: Final = {
    Scalar.I8: Scalar.I32,
    Scalar.I16: Scalar.I32,
    Scalar.U8: Scalar.I32,
    Scalar.U16: Scalar.I32,
    Scalar.F16: Scalar.F32,
    Scalar.BF16: Scalar.F32,
}
_BITS: Final = {
    Scalar.BOOL: 8,
    Scalar.I8: 8,
    Scalar.I16: 16,
    Scalar.I32: 32,
    Scalar.I64: 64,
    Scalar.U8: 8,
    Scalar.U16: 16,
    Scalar.U32: 32,
    Scalar.U64: 64,
    Scalar.W32: 32,
    Scalar.W64: 64,
    Scalar.F16: 16,
    Scalar.BF16: 16,
    Scalar.F32: 32,
    Scalar.F64: 64,
}
_NUMPY: Final[dict[Scalar, "np.dtype[np.generic]"]] = {
    Scalar.BOOL: np.dtype(np.bool_),
    Scalar.I8: np.dtype(np.int8),
    Scalar.I16: np.dtype(np.int16),
    Scalar.I32: np.dtype(np.int32),
    Scalar.I64: np.dtype(np.int64),
    Scalar.U8: np.dtype(np.uint8),
    Scalar.U16: np.dtype(np.uint16),
    Scalar.U32: np.dtype(np.uint32),
    Scalar.U64: np.dtype(np.uint64),
    Scalar.W32: np.dtype(np.uint32),
    Scalar.W64: np.dtype(np.uint64),
    Scalar.F16: np.dtype(np.float16),
    Scalar.F32: np.dtype(np.float32),
    Scalar.F64: np.dtype(np.float64),
}

#: The type of sizes, ids and of counters over them.
INDEX: Final = Scalar.I64


class Access(Enum):
    """What a kernel may do with an array parameter."""

    IN = "In"
    OUT = "Out"
    INOUT = "InOut"

    @property
    def reads(self) -> bool:
        return self is not Access.OUT

    @property
    def writes(self) -> bool:
        return self is not Access.IN


class Space(Enum):
    """Where an array lives."""

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    TABLE = "table"
