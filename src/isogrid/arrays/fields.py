"""The fields of an array that machine code reads: a base class whose instances hold them as C numbers.

CPython makes such a class from a description, so no C compiler is needed. Elsewhere the same names are ordinary slots,
and machine code is not used (`OFFSETS` is empty).
"""

from typing import Any, Final

import numpy as np

from isogrid.support.bfloat16 import is_bfloat16
from isogrid.support.native_type import LONG_LONG, Member, native_type

#: Fields in order, each 64 bits. `traits` is made by `traits_of`; `extent0` to `extent3` are the first extents.
NAMES: Final = ("address", "size", "traits", "extent0", "extent1", "extent2", "extent3")

#: Bits of `traits` above the dtype's number (8 bits) and the rank (8 bits): what makes an array unusual, the number of
#: its device, and whether it may be written.
UNUSUAL_BIT: Final = 1 << 16
READ_ONLY_BIT: Final = 1 << 17
DEVICE_SHIFT: Final = 24


#: The number of bf16 arrays, whose dtype has another one in every process.
BF16_NUMBER: Final = 255


def number_of(dtype: "np.dtype[Any]") -> int:
    """The number of an array's dtype in `traits`: NumPy's own."""
    return BF16_NUMBER if is_bfloat16(dtype) else dtype.num


def traits_of(number: int, rank: int, device: int, unusual: bool, writeable: bool) -> int:
    """What a launch asks of an array besides its address and extents, in one number."""
    bits = (UNUSUAL_BIT if unusual else 0) | (0 if writeable else READ_ONLY_BIT)
    return number | rank << 8 | bits | device << DEVICE_SHIFT


class PlainFields:
    """The fields as Python objects."""

    __slots__ = NAMES


def _native_fields() -> Any:
    """The class with C fields, or None where Python is not CPython."""
    start = object.__basicsize__
    members = [Member(name.encode(), LONG_LONG, start + 8 * number) for number, name in enumerate(NAMES)]
    return native_type("isogrid.arrays.fields.NativeFields", start + 8 * len(NAMES), members)


_NATIVE: Final = _native_fields()
Fields: Final[Any] = PlainFields if _NATIVE is None else _NATIVE
#: Bytes from an object's start to each field; empty where machine code cannot read them.
OFFSETS: Final[dict[str, int]] = (
    {} if _NATIVE is None else {name: object.__basicsize__ + 8 * number for number, name in enumerate(NAMES)}
)
