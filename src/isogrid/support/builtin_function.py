"""Python functions whose code is machine code: `new_builtin("saxpy", address, FASTCALL, (new_capsule(words), words))`
makes one.
"""

import ctypes
from collections.abc import Callable
from typing import Any, Final

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


def new_capsule(content: "ctypes.Structure | ctypes.Array[Any]") -> object:
    """A capsule with the address of `content`, which the caller keeps alive."""
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    return make(ctypes.addressof(content), None, None)


def new_builtin(name: str, address: int, flags: int, owner: tuple[object, ...]) -> Callable[..., Any]:
    """A Python function whose code is at `address` and gets `owner` as its self, with its method definition behind.

    `owner` holds all that the code points to. CPython lets go of a function's self last, so the definition may lie
    there.
    """
    method = _MethodDefinition(name.encode(), address, flags, None)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    return make(ctypes.addressof(method), (*owner, method), None)
