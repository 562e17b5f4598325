"""Where a launch notes the sums that left their type: a count for every element where there are few, else a list."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from isogrid.backends.cuda import layout
from isogrid.backends.cuda.loader import Loaded
from isogrid.runtimes.memory import Block

if TYPE_CHECKING:
    from isogrid.backends.cuda.queue import Queue

#: Arrays of up to so many elements in all have a count for each of them in place of a list of events.
_MOST_COUNTS: Final = 1 << 16
#: Watches with counts that are kept for the next launch.
_MOST_KEPT: Final = 32


def counts_of(queue: "Queue", loaded: Loaded, sizes: Sequence[int], stream: int) -> Block | None:
    """A watch with a count for every element, all zero, or None where there are too many; `sizes` are the elements of
    each parameter that is watched.

    `settle` leaves it zero, so the next launch of the same sizes in this stream takes it again."""
    if sum(sizes) > _MOST_COUNTS:
        return None
    key, kept = (tuple(sizes), stream), loaded.counts
    if key not in kept:
        while len(kept) >= _MOST_KEPT:
            del kept[next(iter(kept))]
        kept[key] = _new_counts(queue, sizes, stream)
    return kept[key]


def _new_counts(queue: "Queue", sizes: Sequence[int], stream: int) -> Block:
    head = layout.WATCH_EVENTS + len(sizes) + 1
    words = np.zeros(head + sum(sizes), np.uint64)
    words[layout.WATCH_CAPACITY] = layout.WATCH_DENSE
    words[layout.WATCH_EVENTS : head] = head + np.cumsum([0, *sizes])
    return _filled(queue, words, words.nbytes, stream)


def event_list(queue: "Queue", room: int, stream: int) -> Block:
    """A watch with room for so many events."""
    head = np.zeros(layout.WATCH_EVENTS, np.uint64)
    head[layout.WATCH_CAPACITY] = room
    return _filled(queue, head, 8 * (layout.WATCH_EVENTS + 2 * room), stream)


def _filled(queue: "Queue", words: "np.ndarray[tuple[int], np.dtype[np.uint64]]", size: int, stream: int) -> Block:
    block = queue.memory.take(size)
    queue.order([block], stream)
    queue.memory.staging.copy_in(block.address, words.view(np.uint8), stream)
    return block
