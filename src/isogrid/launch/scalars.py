"""Scalar arguments: Python numbers, held exactly or rounded once, and NumPy scalars of the very type."""

import reprlib
from typing import Any

import numpy as np

from isogrid.frontend.definition import Generic
from isogrid.ir.types import Scalar
from isogrid.launch.errors import LaunchOverflowError, LaunchTypeError
from isogrid.support.shown import shown


def scalar_argument(kernel: str, name: str, kind: Scalar, value: Any) -> Any:
    """The value as a Python int or bool, or a NumPy float of the type."""
    where = f"argument `{name}` of {kernel}()"
    if is_numpy_scalar(value):
        if value.dtype != kind.numpy:
            raise LaunchTypeError(f"{where} is a NumPy {value.dtype.name}, and the parameter is {kind.value}")
        return value if kind.is_float else value.item()
    if kind is Scalar.BOOL:
        if type(value) is bool:
            return value
        raise LaunchTypeError(f"{where} is {_shown(value)}, and the parameter is bool; pass True or False")
    if type(value) is not int and type(value) is not float:
        raise LaunchTypeError(f"{where} is {_shown(value)}, and the parameter is {kind.value}{_remedy(value)}")
    if kind.is_float:
        return _rounded(kind, value)
    return _exact(where, kind, value)


def generic_member(kernel: str, name: str, generic: Generic, value: Any) -> Scalar:
    """The member of a type variable that only scalars use: a NumPy scalar's own type, else the first that fits."""
    given: Any = value
    for member in generic.members:
        if is_numpy_scalar(value):
            fits = bool(given.dtype == member.numpy)
        elif type(value) is bool:
            fits = member is Scalar.BOOL
        elif type(value) is float:
            fits = member.is_float
        else:
            fits = type(value) is int and (member.is_float or (member.is_integer and member.holds(value)))
        if fits:
            return member
    members = ", ".join(member.value for member in generic.members)
    raise LaunchTypeError(
        f"argument `{name}` of {kernel}() is {_shown(value)}, and `{generic.name}` is one of {members}"
    )


def is_numpy_scalar(value: object) -> bool:
    """A NumPy scalar, which has a dtype of its own; `np.float64` counts although it is a Python float too."""
    return isinstance(value, np.generic)


def _rounded(kind: Scalar, value: int | float) -> Any:
    with np.errstate(over="ignore"):
        if type(value) is int and abs(value) > 1 << 24:
            from isogrid.builtins.conversions import integer_to_float  # exact, and slow to import

            return integer_to_float(kind, value)
        return np.float32(value) if kind is Scalar.F32 else np.float64(value)


def _exact(where: str, kind: Scalar, value: int | float) -> int:
    if type(value) is float and not value.is_integer():
        raise LaunchTypeError(f"{where} is {value!r}, which is no integer, and the parameter is {kind.value}")
    if not kind.holds(int(value)):
        raise LaunchOverflowError(
            f"{where} is {_shown(value)}, and {kind.value} holds {kind.minimum} to {kind.maximum}"
        )
    return int(value)


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool | int | float | complex | str):
        return reprlib.repr(value) if isinstance(value, str) else shown(value)
    if isinstance(value, np.ndarray):
        return f"an array of {value.ndim} {'axis' if value.ndim == 1 else 'axes'}"
    return f"a {type(value).__module__}.{type(value).__qualname__}".replace("builtins.", "")


def _remedy(value: object) -> str:
    if isinstance(value, bool):
        return "; pass int(...)"
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return "; pass `.item()` of it"
    return ""
