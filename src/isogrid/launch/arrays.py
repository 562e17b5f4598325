"""Arguments as NumPy arrays without a copy: NumPy itself, array interfaces, buffers and DLPack on the CPU."""

from typing import Any, TypeAlias, cast

import numpy as np

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

#: DLPack's device type of host memory.
_DLPACK_CPU = 1


class NotAnArray(Exception):
    """The value is no array that a launch can use; the text completes "argument `x` ..."."""


def as_array(value: Any) -> Array:
    """A view of the value's memory; raises `NotAnArray`."""
    if type(value) is np.ndarray:
        return value
    if isinstance(value, np.ma.MaskedArray):
        raise NotAnArray("is a masked array, whose mask a kernel cannot see; pass its `.data` or `.filled(...)`")
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    if isinstance(value, list | tuple | range | set | dict):
        kind = type(cast(object, value)).__name__
        raise NotAnArray(f"is a Python {kind}, whose elements are no array; pass np.asarray(values, dtype=...)")
    if value is None or isinstance(value, bool | int | float | complex | str | np.generic):
        shown = "None" if value is None else f"the {type(cast(object, value)).__name__} {value!r}"
        raise NotAnArray(f"is {shown} where an array is expected")
    return _foreign(value)


def _foreign(value: object) -> Array:
    interface = getattr(value, "__array_interface__", None)
    if interface is not None:
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return _from_dlpack(value)
    if hasattr(value, "__cuda_array_interface__"):
        raise NotAnArray(f"is a {_kind(value)} on a GPU, and the launch runs on the host; copy it to the host first")
    try:
        view = memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        raise NotAnArray(
            f"is a {_kind(value)}, which is no array; pass np.asarray(...) or an object with an array interface"
        ) from None
    return np.asarray(view)


def _from_dlpack(value: Any) -> Array:
    device, _ = value.__dlpack_device__() if hasattr(value, "__dlpack_device__") else (_DLPACK_CPU, 0)
    if device != _DLPACK_CPU:
        raise NotAnArray(f"is a {_kind(value)} on a device, and the launch runs on the host; copy it to the host first")
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise NotAnArray(f"is a {_kind(value)} that gives no view of its memory: {error}") from None


def _kind(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"
