"""Large launches on host arrays in slices: each copied in, computed and copied out by a lane, all lanes at once.

    lane 1    in 0 | run 0 | out 0 | in 2 | run 2 | ...
    lane 2    in 1 | run 1 | out 1 | in 3 | ...

A slice is some rows of the grid along its first axis, the blocks of which touch no other rows of the arrays that are
written (`analysis/own_rows.py`). Arrays that are only read, wherever, go in whole before that. Rows that the grid does
not reach stay on the host. A launch that may trap is not done so: it must be known to be good before it writes.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from isogrid.backends.cuda import transfer
from isogrid.backends.cuda.loader import Loaded
from isogrid.backends.cuda.queue import Queue
from isogrid.backends.cuda.transfer import LANES, Lane, Staging
from isogrid.runtimes.memory import Bytes
from isogrid.support.records import dataclass

#: Bytes that go through lanes from which on it pays to compile code that starts at any block.
LEAST = 32 << 20
#: Slices of each lane, so that no lane is idle for long at the end, and the least bytes of one.
_EACH: Final = 2
_LEAST_SLICE = 1 << 20


@dataclass(frozen=True, slots=True)
class Rows:
    """An array on the host, row after row, and where it is on the device. `goes_in`: what it holds is read, or kept."""

    name: str
    content: Bytes
    row: int
    address: int
    goes_in: bool
    comes_out: bool

    def part(self, first: int, last: int) -> Bytes:
        """Those of the rows from `first` to `last` that there are."""
        return self.content[first * self.row : last * self.row]


@dataclass(frozen=True, slots=True)
class Slices:
    """The rows of the grid that one lane does at a time, and what of it they are. `per_row` counts the blocks of one
    row of blocks, which covers `tile` rows of the grid."""

    rows: int
    extent: int
    tile: int
    per_row: int

    def parts(self) -> list[tuple[int, int]]:
        return [(first, min(first + self.rows, self.extent)) for first in range(0, self.extent, self.rows)]

    def blocks(self, first: int, last: int) -> tuple[int, int]:
        """The first block of these rows, and how many there are."""
        return first // self.tile * self.per_row, -(-(last - first) // self.tile) * self.per_row


def slices_of(arrays: list[Rows], extents: tuple[int, ...], tile: tuple[int, ...]) -> Slices | None:
    """How to cut, None where it does not pay, or one row of blocks has no room in a lane."""
    each = sum(rows.row for rows in arrays) * tile[0]
    whole = each * -(-extents[0] // tile[0])
    per_row = math.prod(-(-extent // t) for extent, t in zip(extents[1:], tile[1:], strict=True))
    if whole < LEAST or each > transfer.ROOM or not per_row:
        return None
    wanted = min(max(whole // (_EACH * LANES), _LEAST_SLICE), transfer.ROOM)
    return Slices(max(wanted // each, 1) * tile[0], extents[0], tile[0], per_row)


#: Queues some blocks of the launch: the first, how many, and the stream.
SliceLaunch: TypeAlias = Callable[[int, int, int], None]


def run_slices(
    queue: Queue,
    staging: Staging,
    arrays: list[Rows],
    slices: Slices,
    launch: SliceLaunch,
    stream: int,
) -> None:
    """Do all of them, behind what `stream` has to do before; done when this returns."""
    driver = queue.driver
    ready = driver.create_event()
    driver.record_event(ready, stream)

    def work(lane: Lane, part: tuple[int, int]) -> None:
        room, places = lane.whole(), dict[str, Bytes]()
        driver.wait_event(lane.stream, ready)
        for rows in arrays:
            content = rows.part(*part)
            here, room = room[: content.size], room[content.size :]
            places[rows.name] = here
            if rows.goes_in and content.size:
                with queue.timed("copy in", rows.name, lane.stream, content.size):
                    np.copyto(here, content)
                    driver.copy_in(rows.address + part[0] * rows.row, here.ctypes.data, content.size, lane.stream)
        launch(*slices.blocks(*part), lane.stream)
        _fetch(queue, lane, arrays, part, places)

    try:
        staging.share(slices.parts(), work)
    finally:
        driver.destroy_event(ready)


def _fetch(queue: Queue, lane: Lane, arrays: list[Rows], part: tuple[int, int], places: Mapping[str, Bytes]) -> None:
    written = [rows for rows in arrays if rows.comes_out and rows.part(*part).size]
    for rows in written:
        here = places[rows.name]
        with queue.timed("copy out", rows.name, lane.stream, here.size):
            queue.driver.copy_out(here.ctypes.data, rows.address + part[0] * rows.row, here.size, lane.stream)
    queue.driver.synchronise_stream(lane.stream)
    for rows in written:
        np.copyto(rows.part(*part), places[rows.name])


def code_for(loaded: Loaded) -> Loaded | None:
    """The code of a launch that may be cut, which starts at any block; None where it may not be cut."""
    module = loaded.variant.module
    if loaded.can_trap or "watch" in loaded.places or module.in_turn:
        return None
    return loaded.from_any_block()


def rows_of(name: str, array: "np.ndarray[Any, Any]", address: int, *, goes_in: bool, comes_out: bool) -> Rows:
    content = array.reshape(-1).view(np.uint8)
    row = content.size // array.shape[0] if array.shape[0] else 0
    return Rows(name, content, row, address, goes_in, comes_out)
