"""DLPack capsules, made and read with ctypes: memory that two libraries share without a copy.

The capsule of an exported array keeps its block alive until the importer calls the deleter; an imported array keeps the
capsule's tensor until its block is dropped. A capsule that nobody imports has no destructor: an importer that fails
drops it with its exception set, and Python code cannot run then without losing that. We hold such a capsule ourselves
and let it go, with its block, when a sweep finds that nobody else does: at the next export and at each garbage
collection, which a device that is short of memory asks for.
"""

import ctypes
import gc
import itertools
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from isogrid.runtimes.memory import Block, Memory
from isogrid.support.bfloat16 import bfloat16_dtype, is_bfloat16

if TYPE_CHECKING:
    from isogrid.arrays.array import Array

HOST: Final = 1
GPU: Final = 2
MANAGED: Final = 13

_KINDS: Final = {"i": 0, "u": 1, "f": 2, "b": 6}
_LETTERS: Final = {number: letter for letter, number in _KINDS.items()}
_BFLOAT: Final = 4
_READ_ONLY: Final = 1


class _Tensor(ctypes.Structure):
    """`DLTensor`."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_kind", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("kind", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    """`DLManagedTensor`."""

    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Versioned(ctypes.Structure):
    """`DLManagedTensorVersioned`."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_DELETER: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_NUMBERS: Final = itertools.count(1)
#: Exported tensors with what they keep alive and their capsules, by number, until their importer is done.
_EXPORTED: Final[dict[int, tuple[Any, ...]]] = {}


def device_of(memory: Memory) -> tuple[int, int]:
    """DLPack's kind and number of a memory's device."""
    if memory.is_host:
        return HOST, 0
    return GPU, int(memory.device.partition(":")[2] or 0)


def device_with_memory(kind: int, number: int) -> str:
    """The device that holds memory of this DLPack kind."""
    if kind == HOST:
        return "cpu"
    if kind in (GPU, MANAGED):
        return "cuda" if number == 0 else f"cuda:{number}"
    raise BufferError(f"memory of DLPack's device type {kind} belongs to no device of isogrid")


# --- out -------------------------------------------------------------------------------------------------------------


def export_array(array: "Array", versioned: bool) -> Any:
    """A capsule of the array's memory, of DLPack 1.0 where the importer knows it."""
    number = next(_NUMBERS)
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    strides = (ctypes.c_int64 * max(array.ndim, 1))(*(stride // array.itemsize for stride in array.strides))
    tensor = _tensor_of(array, shape, strides)
    if versioned:
        flags = 0 if array.writeable else _READ_ONLY
        managed: Any = _Versioned(1, 0, number, ctypes.cast(_DELETE_VERSIONED, ctypes.c_void_p), flags, tensor)
    else:
        managed = _Managed(tensor, number, ctypes.cast(_DELETE, ctypes.c_void_p))
    capsule = _new_capsule(ctypes.addressof(managed), b"dltensor_versioned" if versioned else b"dltensor")
    sweep()
    _EXPORTED[number] = (capsule, managed, shape, strides, array.block)
    return capsule


def _tensor_of(array: "Array", shape: Any, strides: Any) -> _Tensor:
    kind, device = device_of(array.block.memory)
    words = ctypes.POINTER(ctypes.c_int64)
    return _Tensor(
        array.address,
        kind,
        device,
        array.ndim,
        _BFLOAT if is_bfloat16(array.dtype) else _KINDS[array.dtype.kind],
        8 * array.itemsize,
        1,
        ctypes.cast(shape, words),
        ctypes.cast(strides, words),
        0,
    )


def _delete(address: int) -> None:
    _EXPORTED.pop(int(_Managed.from_address(address).context or 0), None)


def _delete_versioned(address: int) -> None:
    _EXPORTED.pop(int(_Versioned.from_address(address).context or 0), None)


def sweep() -> None:
    """Let go the tensors whose capsules nobody has imported and nobody else holds."""
    for number, kept in list(_EXPORTED.items()):
        if _references(kept) == _OURS_ALONE and not _is_taken(kept[0]):
            _EXPORTED.pop(number, None)


def _references(kept: tuple[Any, ...]) -> int:
    return sys.getrefcount(kept[0])


def _is_taken(capsule: Any) -> bool:
    at = id(capsule)
    return not (_is_valid(at, b"dltensor") or _is_valid(at, b"dltensor_versioned"))


def _sweep_with_the_collector(phase: str, facts: object) -> None:
    if phase == "stop" and _EXPORTED:
        sweep()


#: What `_references` says of an object that is in such a tuple only: Python versions count their own uses differently.
_OURS_ALONE: Final = _references((object(),))
gc.callbacks.append(_sweep_with_the_collector)
_DELETE: Final = _DELETER(_delete)
_DELETE_VERSIONED: Final = _DELETER(_delete_versioned)


# --- in --------------------------------------------------------------------------------------------------------------


class _Imported:
    """A tensor of another library; dropping this tells it that we are done."""

    def __init__(self, address: int, deleter: int | None) -> None:
        self.address = address
        self.deleter = deleter

    def __del__(self) -> None:
        if self.deleter:
            _DELETER(self.deleter)(self.address)


def import_array(other: Any, memory: Memory, *, unsaid: bool = True) -> "Array":
    """The array that an object with `__dlpack__` shows, in place. `unsaid`: whether it may be written where it does not
    say so, as capsules did not before version 1."""
    from isogrid.arrays.array import Array

    # PyTorch gives no tensor away that is on another GPU than the thread's.
    with memory.entered():
        capsule = _capsule_of(other, memory)
    tensor, owner, writeable = _take(capsule, unsaid)
    dtype, size = _dtype_of(tensor), tensor.bits // 8
    shape = tuple(tensor.shape[axis] for axis in range(tensor.rank))
    strides = None
    if tensor.strides:
        strides = tuple(tensor.strides[axis] * size for axis in range(tensor.rank))
    address = (tensor.data or 0) + tensor.offset
    block = Block(memory, address, 0, owner=owner, foreign=True)
    block.used = True  # from now on launches may be queued on it
    made = Array(block, address, shape, dtype, strides, writeable)
    if made.is_packed:
        made = Array(block, address, shape, dtype, None, writeable)
    return made


def _dtype_of(tensor: _Tensor) -> "np.dtype[Any]":
    if tensor.lanes == 1 and (tensor.kind, tensor.bits) == (_BFLOAT, 16):
        return bfloat16_dtype()
    if tensor.lanes != 1 or tensor.kind not in _LETTERS:
        raise BufferError(f"elements of DLPack's type {tensor.kind} with {tensor.lanes} lanes are not supported")
    letter = _LETTERS[tensor.kind]
    return np.dtype(bool) if letter == "b" else np.dtype(f"{letter}{tensor.bits // 8}")


def _capsule_of(other: Any, memory: Memory) -> Any:
    # 1 is the legacy default stream, which our queue works in; the producer orders its work before it.
    wishes: dict[str, Any] = {} if memory.is_host else {"stream": 1}
    try:
        return other.__dlpack__(max_version=(1, 0), **wishes)
    except TypeError:  # a producer that is older than versions
        return other.__dlpack__(**wishes)


def _take(capsule: Any, unsaid: bool) -> tuple[_Tensor, _Imported, bool]:
    at = id(capsule)
    if _is_valid(at, b"dltensor_versioned"):
        address = _pointer(at, b"dltensor_versioned")
        versioned = _Versioned.from_address(address)
        owner = _Imported(address, versioned.deleter)
        _rename(at, b"used_dltensor_versioned")
        return versioned.tensor, owner, not versioned.flags & _READ_ONLY
    address = _pointer(at, b"dltensor")
    managed = _Managed.from_address(address)
    owner = _Imported(address, managed.deleter)
    _rename(at, b"used_dltensor")
    return managed.tensor, owner, unsaid


# --- capsules --------------------------------------------------------------------------------------------------------

_API: Final = ctypes.pythonapi
#: A capsule keeps the pointer to its name: these live as long as the process.
_NAMES: Final = {
    name: ctypes.create_string_buffer(name)
    for name in (b"dltensor", b"dltensor_versioned", b"used_dltensor", b"used_dltensor_versioned")
}


def _new_capsule(address: int, name: bytes) -> Any:
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
        ("PyCapsule_New", _API)
    )
    return new(address, ctypes.addressof(_NAMES[name]), None)


def _is_valid(capsule: int, name: bytes) -> bool:
    valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _API))
    return bool(valid(capsule, name))


def _pointer(capsule: int, name: bytes) -> int:
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _API))
    return int(get(capsule, name) or 0)


def _rename(capsule: int, name: bytes) -> None:
    rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(("PyCapsule_SetName", _API))
    rename(capsule, ctypes.addressof(_NAMES[name]))
