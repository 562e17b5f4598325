"""Array elements as Python lists: what a launch works on; the caller's arrays stay as they are until it succeeds.

Integers are Python ints, bools Python bools, floats NumPy scalars of the element type; a load widens f16.
"""

from typing import Any

import numpy as np

from isogrid.builtins import floats
from isogrid.ir.types import Scalar

Memory = list[Any]


def zero(element: Scalar) -> Any:
    """The value of a zeroed element."""
    if element.is_float:
        return floats.number(element, 0.0)
    return False if element is Scalar.BOOL else 0


def from_array(array: "np.ndarray[Any, Any]") -> Memory:
    """The elements of a C-contiguous array in C order."""
    flat = array.reshape(-1)
    return list(flat) if flat.dtype.kind == "f" else flat.tolist()


def from_bytes(element: Scalar, data: bytes) -> Memory:
    """The elements of a table: little-endian, in C order."""
    return from_array(np.frombuffer(data, element.numpy.newbyteorder("<")).astype(element.numpy))


def write_back(memory: Memory, array: "np.ndarray[Any, Any]") -> None:
    """Set a C-contiguous array to the elements of a list."""
    if memory:
        array.reshape(-1)[:] = np.array(memory, array.dtype)


def element_count(shape: tuple[int, ...]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count
