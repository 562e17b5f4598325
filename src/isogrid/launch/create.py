"""`ig.array`, `ig.zeros` and the like: arrays on a device, and what a program may ask of a device's memory."""

from typing import Any

import numpy as np

from isogrid.arrays import shapes
from isogrid.arrays.array import Array
from isogrid.arrays.dlpack import device_with_memory, import_array
from isogrid.arrays.exchange import NotExchanged, adopt, foreign_device
from isogrid.frontend.language import scalar_of
from isogrid.launch.arrays import NotAnArray, as_host_array
from isogrid.launch.backends import RUNTIMES, made_runtimes, runtime
from isogrid.launch.devices import Device, choose
from isogrid.launch.devices import device as device_named
from isogrid.runtimes.memory import Memory
from isogrid.support.bfloat16 import is_bfloat16, rounded_to_bfloat16


def array(values: Any, dtype: Any = None, *, device: "str | Device | None" = None) -> Array:
    """An array on a device with a copy of these values: numbers, nested lists, or any array."""
    holder = None if isinstance(values, Array) else foreign_device(values)
    if holder is not None:
        values = adopted(values, holder)
    if isinstance(values, Array) and dtype is None and values.device == _name(device):
        return values.copy()
    content = values.numpy() if isinstance(values, Array) else _host(values)
    if dtype is not None:
        wanted = dtype_of(dtype)
        content = rounded_to_bfloat16(content) if _rounds(content, wanted) else content.astype(wanted)
    made = empty(content.shape, _checked(content.dtype), device=device)
    made[...] = content
    return made


def empty(shape: Any, dtype: Any = np.float64, *, device: "str | Device | None" = None) -> Array:
    """An array on a device whose elements are whatever its memory holds."""
    return _made(_memory(device), shapes.shape_of(shape), dtype_of(dtype))


def full(shape: Any, value: Any, dtype: Any = None, *, device: "str | Device | None" = None) -> Array:
    """An array on a device with every element set to `value`; its own type is the default."""
    kind = np.asarray(value).dtype if dtype is None else dtype
    made = empty(shape, kind, device=device)
    made.fill(value)
    return made


def zeros(shape: Any, dtype: Any = np.float64, *, device: "str | Device | None" = None) -> Array:
    """An array of zeros on a device."""
    made = empty(shape, dtype, device=device)
    made.fill(made.dtype.type(0))
    return made


def ones(shape: Any, dtype: Any = np.float64, *, device: "str | Device | None" = None) -> Array:
    """An array of ones on a device."""
    made = empty(shape, dtype, device=device)
    made.fill(made.dtype.type(1))
    return made


def empty_like(other: Any, *, device: "str | Device | None" = None) -> Array:
    """`empty` of another array's shape and dtype, on its device unless one is named."""
    return empty(other.shape, other.dtype, device=_beside(other, device))


def zeros_like(other: Any, *, device: "str | Device | None" = None) -> Array:
    """`zeros` of another array's shape and dtype, on its device unless one is named."""
    return zeros(other.shape, other.dtype, device=_beside(other, device))


def from_dlpack(other: Any) -> Array:
    """Another library's array as an isogrid array of the device that holds it, without a copy."""
    if isinstance(other, Array):
        return other[...]
    kind, number = other.__dlpack_device__()
    name = device_named(device_with_memory(int(kind), int(number))).name
    return import_array(other, memory_of(name))


def synchronize(device: "str | Device | None" = None) -> None:
    """Wait for every queued launch of a device (of all devices by default) and raise the first pending trap."""
    names = made_runtimes() if device is None else [device_named(device).name]
    for name in names:
        wait = getattr(runtime(name), "synchronize", None)
        if wait is not None:
            wait()


def memory_statistics(device: "str | Device | None" = None) -> dict[str, int]:
    """Bytes that arrays use (`used`, `most_used`), that the device keeps (`reserved`), and counts of requests."""
    return _memory(device).statistics()


def release_memory(device: "str | Device | None" = None) -> int:
    """Give memory that is kept for later arrays back to the system; returns how many bytes."""
    return _memory(device).release()


def memory_of(name: str) -> Memory:
    """The memory of a device."""
    owner: Any = runtime(name)
    return owner.memory


def dtype_of(dtype: Any) -> "np.dtype[Any]":
    """A NumPy dtype, also from a type of the language; storage types of kernels only."""
    scalar = scalar_of(dtype)
    return _checked(np.dtype(dtype) if scalar is None else np.dtype(scalar.numpy))


def _rounds(content: "np.ndarray[Any, Any]", wanted: "np.dtype[Any]") -> bool:
    return is_bfloat16(wanted) and content.dtype.kind in "biuf"


def _checked(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    if (dtype.kind not in "biuf" or dtype.itemsize > 8) and not is_bfloat16(dtype):
        raise TypeError(f"an array on a device holds numbers of up to 8 bytes or bools, not {dtype.name}")
    return dtype.newbyteorder("=")


def adopted(values: Any, holder: str) -> Array:
    """Another library's array on a GPU as one of ours, in place."""
    try:
        return adopt(values, memory_of(device_named(holder).name))
    except NotExchanged as fault:
        raise TypeError(f"the value is an array {fault}") from None


def _host(values: Any) -> "np.ndarray[Any, Any]":
    if isinstance(values, np.ndarray | list | tuple | bool | int | float | np.generic | range):
        return np.asarray(values)
    try:
        return as_host_array(values)
    except NotAnArray as fault:
        raise TypeError(f"ig.array: the value {fault}") from None


def _made(memory: Memory, shape: tuple[int, ...], dtype: "np.dtype[Any]") -> Array:
    size = dtype.itemsize
    for extent in shape:
        size *= extent
    if size >= 1 << 63:
        raise ValueError(f"an array of shape {shape} has 2^63 bytes or more")
    block = memory.take(size)
    return Array(block, block.address, shape, dtype)


def _memory(device: "str | Device | None") -> Memory:
    return memory_of(_name(device))


def _name(device: "str | Device | None") -> str:
    return choose(None).device.name if device is None else device_named(device).name


def _beside(other: Any, device: "str | Device | None") -> "str | Device | None":
    if device is not None:
        return device
    return other.device if isinstance(other, Array) and other.device.partition(":")[0] in RUNTIMES else None
