"""Array elements as Python lists: what a launch works on; the caller's arrays stay as they are until it succeeds.

Integers are Python ints, bools Python bools, floats NumPy scalars of the element type; a load widens f16. A bf16 is an
f32 that bf16 holds.
"""

from typing import Any

import numpy as np

from isogrid.builtins import floats
from isogrid.ir.types import Scalar
from isogrid.support.bfloat16 import is_bfloat16

Memory = list[Any]


def zero(element: Scalar) -> Any:
    """The value of a zeroed element."""
    if element.is_float:
        return floats.number(element, 0.0)
    return False if element is Scalar.BOOL else 0


def from_array(array: "np.ndarray[Any, Any]") -> Memory:
    """The elements of a C-contiguous array in C order."""
    flat = array.reshape(-1)
    if is_bfloat16(flat.dtype):
        return _from_words(flat.view(np.uint16))
    return list(flat) if flat.dtype.kind == "f" else flat.tolist()


def from_bytes(element: Scalar, data: bytes) -> Memory:
    """The elements of a table: little-endian, in C order."""
    if element is Scalar.BF16:
        return _from_words(np.frombuffer(data, "<u2"))
    return from_array(np.frombuffer(data, element.numpy.newbyteorder("<")).astype(element.numpy))


def _from_words(words: "np.ndarray[Any, Any]") -> Memory:
    """The bits of bf16 elements as the values that they are."""
    return list((words.astype(np.uint32) << 16).view(np.float32))


def write_back(memory: Memory, array: "np.ndarray[Any, Any]") -> None:
    """Set a C-contiguous array to the elements of a list."""
    if memory and is_bfloat16(array.dtype):
        words = np.array(memory, np.float32).view(np.uint32) >> 16
        array.reshape(-1).view(np.uint16)[:] = words.astype(np.uint16)
    elif memory:
        array.reshape(-1)[:] = np.array(memory, array.dtype)


def element_count(shape: tuple[int, ...]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count
