"""Whether strided arrays share bytes: with themselves, exactly by a bounded search; with each other, by NumPy's solver.

Both searches have a work limit. Beyond it the answer is "perhaps", and a launch that would need "no" is refused.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from isogrid.arrays.array import Array as DeviceArray

#: Steps of either search before it gives up. Regular views need a handful.
WORK_LIMIT = 100_000


class Overlap(Enum):
    """The verdict of one question."""

    NO = "no"
    YES = "yes"
    PERHAPS = "perhaps"


def arrays_overlap(a: "np.ndarray[Any, Any] | DeviceArray", b: "np.ndarray[Any, Any] | DeviceArray") -> Overlap:
    """Whether some byte belongs to an element of both arrays."""
    if isinstance(a, DeviceArray) or isinstance(b, DeviceArray):
        return _device_overlap(a, b)
    if not np.may_share_memory(a, b):
        return Overlap.NO
    if a.flags.forc and b.flags.forc:
        return Overlap.YES  # both fill their ranges of memory, and the ranges meet
    limit: Any = WORK_LIMIT  # NumPy's stub knows only its two named limits
    try:
        return Overlap.YES if np.shares_memory(a, b, max_work=limit) else Overlap.NO
    except np.exceptions.TooHardError:
        return Overlap.PERHAPS


def _device_overlap(a: "np.ndarray[Any, Any] | DeviceArray", b: "np.ndarray[Any, Any] | DeviceArray") -> Overlap:
    """Of arrays that a launch takes on a device: they are contiguous there, and a host array is copied there."""
    if not isinstance(a, DeviceArray) or not isinstance(b, DeviceArray):
        here, there = (b, a) if isinstance(b, np.ndarray) else (a, b)
        if isinstance(here, np.ndarray) and isinstance(there, DeviceArray) and there.block.memory.is_host:
            return arrays_overlap(here, there.host_view())
        return Overlap.NO
    meet = a.address < b.address + b.nbytes and b.address < a.address + a.nbytes
    return Overlap.YES if meet and a.size and b.size else Overlap.NO


def self_overlap(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> Overlap:
    """Whether two different elements of an array of this shape and these strides (in bytes) share a byte.

    Two elements differ by some index difference d != 0 with |d[k]| < shape[k]; they share a byte when their addresses
    differ by less than `itemsize`. The axes are tried from the longest stride down; what the shorter ones can still
    reach bounds each difference, which leaves one or two candidates per axis in every regular view.
    """
    if 0 in shape:
        return Overlap.NO
    axes = sorted(((abs(s), n - 1) for s, n in zip(strides, shape, strict=True) if n > 1), reverse=True)
    if any(stride == 0 for stride, _ in axes):
        return Overlap.YES
    reach = [0] * (len(axes) + 1)
    for position in range(len(axes) - 1, -1, -1):
        stride, most = axes[position]
        reach[position] = reach[position + 1] + stride * most
    # Nested axes, the common case: each stride steps over all that the shorter ones cover.
    if all(stride >= reach[position + 1] + itemsize for position, (stride, _) in enumerate(axes)):
        return Overlap.NO
    return _search(axes, reach, itemsize)


def _search(axes: list[tuple[int, int]], reach: list[int], itemsize: int) -> Overlap:
    """Depth-first search for an index difference whose address difference is below `itemsize`."""
    pending = [(0, 0, True)]
    for _ in range(WORK_LIMIT):
        if not pending:
            return Overlap.NO
        position, offset, all_zero = pending.pop()
        if position == len(axes):
            if not all_zero and abs(offset) < itemsize:
                return Overlap.YES
            continue
        stride, most = axes[position]
        slack = reach[position + 1] + itemsize - 1
        lowest = max(-most, -((offset + slack) // stride))
        highest = min(most, (slack - offset) // stride)
        # A difference and its negative are the same pair of elements: the first that is not zero may be positive.
        first = max(lowest, 0) if all_zero else lowest
        if highest - first > WORK_LIMIT:
            return Overlap.PERHAPS
        pending.extend((position + 1, offset + stride * d, all_zero and d == 0) for d in range(first, highest + 1))
    return Overlap.PERHAPS
