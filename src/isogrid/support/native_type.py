"""Classes with C fields, made from a description as extension modules make them: no C compiler is needed.

native_type("isogrid.example.Pair", object.__basicsize__ + 16, (Member(b"a", LONG_LONG, object.__basicsize__), ...))
"""

import ctypes
import sys
from collections.abc import Sequence
from typing import Any, Final

from isogrid.support.records import dataclass

#: Kinds of members.
LONG_LONG: Final = 17
SIGNED_SIZE: Final = 19
_READ_ONLY: Final = 1
_MEMBERS: Final = 72
_BASE_TYPE: Final = 1 << 10


@dataclass(frozen=True, slots=True)
class Member:
    """A field of such a class: its name, its kind, and bytes from the object's start."""

    name: bytes
    kind: int
    offset: int
    read_only: bool = False


class _Member(ctypes.Structure):
    """`PyMemberDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Slot(ctypes.Structure):
    """`PyType_Slot`."""

    _fields_ = (("slot", ctypes.c_int), ("function", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    """`PyType_Spec`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


#: What Python keeps pointers to.
_KEPT: Final[list[Any]] = []


def native_type(name: str, size: int, members: Sequence[Member]) -> Any:
    """A class that others may derive from, whose instances have `size` bytes; None where Python is not CPython."""
    if sys.implementation.name != "cpython" or not hasattr(ctypes.pythonapi, "PyType_FromSpec"):
        return None
    described = (_Member * (len(members) + 1))()
    for number, member in enumerate(members):
        flags = _READ_ONLY if member.read_only else 0
        described[number] = _Member(member.name, member.kind, member.offset, flags, None)
    slots = (_Slot * 2)(_Slot(_MEMBERS, ctypes.cast(described, ctypes.c_void_p)), _Slot(0, None))
    spec = _Spec(name.encode(), size, 0, _BASE_TYPE, slots)
    _KEPT.extend((described, slots, spec))
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(("PyType_FromSpec", ctypes.pythonapi))
    return make(ctypes.addressof(spec))
