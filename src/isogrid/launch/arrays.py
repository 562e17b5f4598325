"""Arguments as arrays without a copy: NumPy and what it reads on the host, arrays of this and of other libraries on
devices."""

from typing import Any, TypeAlias, cast

import numpy as np

from isogrid.arrays.array import Array as DeviceArray
from isogrid.arrays.dlpack import import_array
from isogrid.arrays.exchange import NotExchanged, adopt, foreign_device
from isogrid.support.shown import shown

HostArray: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Array: TypeAlias = "HostArray | DeviceArray"

#: DLPack's device type of host memory.
_DLPACK_CPU = 1


class NotAnArray(Exception):
    """The value is no array that a launch can use; the text completes "argument `x` ..."."""


def as_array(value: Any, device: str) -> Array:
    """The value's memory as a launch on `device` uses it; raises `NotAnArray`."""
    if type(value) is np.ndarray:
        return value
    if isinstance(value, DeviceArray):
        if value.device != device:
            raise NotAnArray(
                f"is on {value.device}, and the launch runs on {device}; "
                f"move it with ig.array(..., device={device!r}), or launch the kernel on {value.device}"
            )
        return value
    holder = foreign_device(value)
    if holder is not None:
        return _adopted(value, holder, device)
    return as_host_array(value)


def _adopted(value: Any, holder: str, device: str) -> DeviceArray:
    if holder != device:
        raise NotAnArray(f"is a {_kind(value)} on {holder}, and the launch runs on {device}; copy it to the host first")
    from isogrid.launch.backends import runtime

    owner: Any = runtime(device)
    try:
        return adopt(value, owner.memory)
    except NotExchanged as fault:
        raise NotAnArray(f"is a {_kind(value)} {fault}") from None


def device_of(value: Any) -> str | None:
    """The device that holds an argument; None for scalars and for arrays on the host."""
    if isinstance(value, np.ndarray | np.generic | bool | int | float) or value is None:
        return None
    return value.device if isinstance(value, DeviceArray) else foreign_device(value)


def on_the_host(value: Any) -> bool:
    """Whether an argument is an array in host memory."""
    if isinstance(value, np.ndarray):
        return True
    if isinstance(value, DeviceArray | np.generic | bool | int | float) or value is None:
        return False
    return foreign_device(value) is None


def as_host_array(value: Any) -> HostArray:
    """A view of the value's memory on the host; raises `NotAnArray`."""
    if isinstance(value, np.ma.MaskedArray):
        raise NotAnArray("is a masked array, whose mask a kernel cannot see; pass its `.data` or `.filled(...)`")
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    if isinstance(value, list | tuple | range | set | dict):
        kind = type(cast(object, value)).__name__
        raise NotAnArray(f"is a Python {kind}, whose elements are no array; pass np.asarray(values, dtype=...)")
    if value is None or isinstance(value, bool | int | float | complex | str | np.generic):
        other = cast(object, value)
        what = shown(other)
        if value is not None and not what.startswith("an integer of"):
            what = f"the {type(other).__name__} {what}"
        raise NotAnArray(f"is {what} where an array is expected")
    return _foreign(value)


def _foreign(value: object) -> HostArray:
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


def _from_dlpack(value: Any) -> HostArray:
    device, _ = value.__dlpack_device__() if hasattr(value, "__dlpack_device__") else (_DLPACK_CPU, 0)
    if device != _DLPACK_CPU:
        raise NotAnArray(f"is a {_kind(value)} on a device, and the launch runs on the host; copy it to the host first")
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, SystemError) as error:
        # NumPy's own import knows no bf16, and versions differ in how they say so.
        return _bfloat16_from_dlpack(value, error)
    except (TypeError, ValueError) as error:
        raise NotAnArray(f"is a {_kind(value)} that gives no view of its memory: {error}") from None


def _bfloat16_from_dlpack(value: Any, error: Exception) -> HostArray:
    from isogrid.launch.backends import runtime

    owner: Any = runtime("cpu")
    try:
        # Like NumPy, which takes nothing for writable that does not say so.
        return import_array(value, owner.memory, unsaid=False).host_view()
    except (BufferError, RuntimeError, TypeError, ValueError):
        raise NotAnArray(f"is a {_kind(value)} that gives no view of its memory: {error}") from None


def _kind(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"
