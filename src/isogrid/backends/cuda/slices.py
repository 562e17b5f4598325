"""Large launches on host arrays in slices: each copied in, computed and copied out by a lane, all lanes at once.

    lane 1    in 0 | run 0 | out 0 | in 2 | run 2 | ...
    lane 2    in 1 | run 1 | out 1 | in 3 | ...

A slice is some rows of the grid along its first axis, the blocks of which touch no other rows of the arrays that are
written (`analysis/own_rows.py`). Arrays that are only read, wherever, go in whole before that. Rows that the grid does
not reach stay on the host. A launch that may trap is not done so: it must be known to be good before it writes.
"""

import math
from typing import Any

import numpy as np

from isogrid.backends.cuda import transfer
from isogrid.backends.cuda.lane_code import COMES_OUT, GOES_IN
from isogrid.backends.cuda.loader import Loaded
from isogrid.backends.cuda.transfer import Move
from isogrid.support.records import dataclass

#: Bytes that go through lanes from which on it pays to compile code that starts at any block.
LEAST = 8 << 20


@dataclass(frozen=True, slots=True)
class Rows:
    """An array on the host, with as many bytes in a row, and where it is on the device. `goes_in`: what it holds is
    read, or kept."""

    array: "np.ndarray[Any, Any]"
    address: int
    goes_in: bool
    comes_out: bool

    @property
    def row(self) -> int:
        return self.array.nbytes // self.array.shape[0] if self.array.shape[0] else 0

    def move(self, rows: int, extent: int) -> Move:
        """Parts of so many rows, of those that the grid reaches."""
        size = self.row * min(self.array.shape[0], extent)
        kind = GOES_IN * self.goes_in + COMES_OUT * self.comes_out
        return Move(self.array.ctypes.data, self.address, self.row * rows, size, kind)


@dataclass(frozen=True, slots=True)
class Slices:
    """How a grid is cut: rows of a slice, how many slices there are, blocks of a slice and in all."""

    rows: int
    count: int
    blocks: int
    total: int


def slices_of(arrays: list[Rows], extents: tuple[int, ...], tile: tuple[int, ...]) -> Slices | None:
    """How to cut, None where it does not pay, or one row of blocks has no room in a lane."""
    each = sum(rows.row for rows in arrays) * tile[0]
    tall = -(-extents[0] // tile[0])
    per_row = math.prod(-(-extent // t) for extent, t in zip(extents[1:], tile[1:], strict=True))
    whole = each * tall
    if whole < LEAST or each > transfer.ROOM or not per_row:
        return None
    room = min(transfer.part_of(whole // len(arrays)) * len(arrays), transfer.ROOM)
    tiles = max(room // each, 1)
    return Slices(tiles * tile[0], -(-tall // tiles), tiles * per_row, tall * per_row)


def code_for(loaded: Loaded) -> Loaded | None:
    """The code of a launch that may be cut, which starts at any block; None where it may not be cut."""
    module = loaded.variant.module
    if loaded.can_trap or "watch" in loaded.places or module.in_turn:
        return None
    return loaded.from_any_block()
