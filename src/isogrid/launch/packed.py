"""Strided arrays on the host as native callables take arrays: packed into copies, and what was written put back.

    axpy(2.0, x[::3], y[::3])   ->   native(2.0, copy of x[::3], copy of y[::3]), then the copy of y into y[::3]

Only what the ordinary launch would surely copy as well is packed here; what it might refuse goes to it as it came.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from isogrid.frontend.definition import Definition, ScalarDeclaration
from isogrid.launch.overlap import Overlap, arrays_overlap, self_overlap
from isogrid.support.records import dataclass

#: Most bytes of copies: a longer launch hides what the ordinary one costs, and may take less memory.
_MOST_BYTES: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class ArrayUse:
    """How a kernel takes the argument at a place: the rank of the array, and whether it is written."""

    place: int
    rank: int
    written: bool


class Packed(NamedTuple):
    """Arguments with copies in place of strided arrays, and of what is written the array and its copy."""

    arguments: tuple[Any, ...]
    written: "list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]"

    def put_back(self) -> None:
        """Write what the launch has written where it belongs."""
        for array, copy in self.written:
            np.copyto(array, copy)


def array_uses(definition: Definition) -> tuple[ArrayUse, ...]:
    """How a kernel takes each of its arrays."""
    return tuple(
        ArrayUse(place, len(parameter.shape), parameter.access.writes)
        for place, parameter in enumerate(definition.parameters)
        if not isinstance(parameter, ScalarDeclaration)
    )


def packed(uses: Sequence[ArrayUse], arguments: Sequence[Any]) -> Packed | None:
    """The arguments with every array packed; None where none is strided, or where a launch may be refused for it."""
    strided: list[ArrayUse] = []
    size = 0
    for use in uses:
        array = arguments[use.place]
        if type(array) is not np.ndarray:
            if array is None:
                continue
            return None
        flags = array.flags
        if not (flags.c_contiguous and flags.aligned):
            if array.ndim != use.rank or (use.written and not flags.writeable):
                return None
            strided.append(use)
            size += array.nbytes
    if not strided or size > _MOST_BYTES or not _are_apart(uses, strided, arguments):
        return None
    values, written = list(arguments), list[tuple[Any, Any]]()
    for use in strided:
        array = arguments[use.place]
        values[use.place] = copy = np.array(array, order="C")
        if use.written:
            written.append((array, copy))
    return Packed(tuple(values), written)


def _are_apart(uses: Sequence[ArrayUse], strided: Sequence[ArrayUse], arguments: Sequence[Any]) -> bool:
    """Whether no byte that is written belongs to two elements."""
    for use in strided:
        if use.written and not _has_no_byte_twice(arguments[use.place]):
            return False
    for at, use in enumerate(uses):
        for other in uses[at + 1 :]:
            if use.written or other.written:
                first, second = arguments[use.place], arguments[other.place]
                if first is not None and second is not None and arrays_overlap(first, second) is not Overlap.NO:
                    return False
    return True


def _has_no_byte_twice(array: "np.ndarray[Any, Any]") -> bool:
    if array.ndim == 1:
        return abs(array.strides[0]) >= array.itemsize or array.size <= 1
    return array.flags.forc or self_overlap(array.shape, array.strides, array.itemsize) is Overlap.NO
