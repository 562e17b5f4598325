"""Shapes, strides and basic subscripts, as NumPy has them, without any memory.

view_of((4, 6), (48, 8), (slice(1, 3), 2))    ->    offset 64, shape (2,), strides (48,)
"""

import operator
from collections.abc import Sequence
from typing import Any, cast

from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class View:
    """Where a part of an array lies: bytes from the start of the whole, extents, and bytes from element to element."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def shape_of(shape: Any) -> tuple[int, ...]:
    """A shape as the user writes it: an integer or a sequence of them."""
    try:
        parts = (operator.index(shape),)
    except TypeError:
        parts = tuple(operator.index(extent) for extent in cast(Sequence[Any], shape))
    if any(extent < 0 for extent in parts):
        raise ValueError(f"an array has no negative extent: {parts}")
    return parts


def packed_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Strides of a C-ordered array."""
    strides: list[int] = []
    step = itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def is_packed(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    """Whether the elements follow each other in C order; the strides of axes with one element do not count."""
    if 0 in shape:
        return True
    step = itemsize
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != step:
            return False
        step *= extent
    return True


def span_of(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """The bytes that the elements lie in, relative to the first element: start (not positive) and end."""
    if 0 in shape:
        return 0, 0
    reach = [stride * (extent - 1) for extent, stride in zip(shape, strides, strict=True)]
    return sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + itemsize


def view_of(shape: tuple[int, ...], strides: tuple[int, ...], subscript: Any) -> View:
    """What `x[subscript]` shows: integers, slices, `...` and None, each with NumPy's meaning."""
    parts: tuple[Any, ...] = cast(tuple[Any, ...], subscript) if isinstance(subscript, tuple) else (subscript,)
    parts = _without_ellipsis(parts, len(shape))
    offset, axis = 0, 0
    new_shape: list[int] = []
    new_strides: list[int] = []
    for part in parts:
        if part is None:
            new_shape.append(1)
            new_strides.append(0)
            continue
        extent, stride = shape[axis], strides[axis]
        if isinstance(part, slice):
            start, stop, step = part.indices(extent)
            count = len(range(start, stop, step))
            offset += start * stride if count else 0
            new_shape.append(count)
            new_strides.append(stride * step)
        else:
            offset += _position(part, axis, extent) * stride
        axis += 1
    return View(offset, tuple(new_shape), tuple(new_strides))


def _position(part: Any, axis: int, extent: int) -> int:
    if isinstance(part, bool):
        raise IndexError("a boolean is no index of a device array; select with a kernel, or on the host")
    try:
        index = operator.index(part)
    except TypeError:
        raise IndexError(
            f"a device array takes integers, slices, ... and None as subscripts, not {type(part).__name__}; "
            "gather with a kernel, or on the host with .numpy()"
        ) from None
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of range for axis {axis} with extent {extent}")
    return index % extent


def _without_ellipsis(parts: tuple[Any, ...], rank: int) -> tuple[Any, ...]:
    used = sum(part is not None and part is not Ellipsis for part in parts)
    if used > rank:
        raise IndexError(f"too many subscripts: the array has {rank} axes, and {used} were given")
    places = [number for number, part in enumerate(parts) if part is Ellipsis]
    if len(places) > 1:
        raise IndexError("a subscript has one ellipsis at most")
    rest = (slice(None),) * (rank - used)
    at = places[0] if places else len(parts)
    return parts[:at] + rest + parts[at + 1 :]
