"""Python functions whose code is machine code: `new_builtin("saxpy", address, FASTCALL, lasting(words))` makes one.

Such a function, its self and the callable behind it are mostly a cycle. The collector clears what it finds in one, and
memory of ctypes is free from then on, while the function still stands and may even be called. So everything that
machine code points to lies in objects that it does not know, in nothing but tuples.
"""

import ctypes
from collections.abc import Callable
from typing import Any, Final, cast

#: Flags of a method definition: a vector of positional arguments, and a tuple of the names of those given by keyword.
FASTCALL: Final = 0x80
KEYWORDS: Final = 0x02


class _MethodDefinition(ctypes.Structure):
    """`PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def lasting(content: "ctypes.Structure | ctypes.Array[Any]") -> tuple[object, bytearray]:
    """A capsule with the address of a copy of `content`, and the copy, which lives as long as somebody holds it."""
    kept = bytearray(content)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    return make(address_of(kept), None, None), kept


def address_of(kept: bytearray) -> int:
    """Where the bytes are; they stay there while nobody changes their number."""
    return ctypes.addressof(ctypes.c_char.from_buffer(kept))


def new_builtin(name: str, address: int, flags: int, owner: tuple[object, ...]) -> Callable[..., Any]:
    """A Python function whose code is at `address` and gets `owner` as its self, with its method definition behind.

    `owner` holds all that the code points to. CPython lets go of a function's self last, so the definition may lie
    there.
    """
    text = name.encode()
    return _made(bytearray(_MethodDefinition(text, address, flags, None)), (*owner, text))


def with_slow(function: Callable[..., Any], slow: Callable[..., Any]) -> Callable[..., Any]:
    """The same code with another callable as the second item of its self."""
    capsule, _, *behind, method = cast(tuple[Any, ...], getattr(function, "__self__"))  # noqa: B009
    return _made(method, (capsule, slow, *behind))


def _made(method: bytearray, owner: tuple[object, ...]) -> Callable[..., Any]:
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    return make(address_of(method), (*owner, method), None)
