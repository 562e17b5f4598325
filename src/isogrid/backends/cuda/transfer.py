"""Copies between host memory that may be paged out and a GPU: small ones directly, large ones on several lanes.

A lane is a thread with pinned memory of its own. It fills one half while the bus still empties the other, and while the
other lanes do the same: one processor alone fills pinned memory at a sixth of the bus's speed.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from isogrid.runtimes.cuda_driver import Driver
from isogrid.runtimes.memory import Bytes, bytes_at

T = TypeVar("T")
#: Where a part of an array starts and ends, in bytes.
Part: TypeAlias = tuple[int, int]

#: Pageable copies of up to this size are as fast as staged ones.
_DIRECT = 1 << 17
#: Pinned bytes of a lane.
ROOM = 8 << 20
#: Parts that are smaller than this cost more to hand out than to copy.
_LEAST_PART = 1 << 19
#: More lanes than this only wait for each other's memory, on a host with 16 processors.
LANES: Final = min(12, os.cpu_count() or 1)


class Lane:
    """Pinned memory in two halves, each with the event that ends its use, and a stream."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.room: Bytes = bytes_at(driver.allocate_host(ROOM), ROOM)
        self.stream = driver.create_stream()
        self._events = (driver.create_event(), driver.create_event())
        self._turn = 0

    def half(self) -> tuple[Bytes, int]:
        """The half whose turn it is, once nothing uses it any more, and its event."""
        self._turn = 1 - self._turn
        size = len(self.room) // 2
        self.driver.synchronise_event(self._events[self._turn])
        return self.room[self._turn * size :][:size], self._events[self._turn]

    def whole(self) -> Bytes:
        """All of it, once nothing uses it any more."""
        for event in self._events:
            self.driver.synchronise_event(event)
        return self.room


class Staging:
    """The lanes of one device, each made when there is first something for it to do. `enter` makes the device that of a
    thread."""

    def __init__(self, driver: Driver, enter: Callable[[], None]) -> None:
        self.driver = driver
        self._enter = enter
        self._lanes: list[Lane] = []
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None

    def copy_in(self, target: int, source: Bytes, stream: int) -> None:
        """Host to device, queued; `source` may change when this returns."""
        if source.size <= _DIRECT:
            self.driver.copy_in(target, source.ctypes.data, source.size, stream)
            # The driver may read pageable memory only when the copy's turn comes.
            self.driver.synchronise_stream(stream)
            return

        def fill(lane: Lane, part: Part) -> None:
            start, end = part
            half, event = lane.half()
            np.copyto(half[: end - start], source[start:end])
            self.driver.copy_in(target + start, half.ctypes.data, end - start, stream)
            self.driver.record_event(event, stream)

        self.share(_parts(source.size), fill)

    def copy_out(self, target: Bytes, source: int, stream: int) -> None:
        """Device to host; complete when this returns."""
        if target.size <= _DIRECT:
            self.driver.copy_out(target.ctypes.data, source, target.size, stream)
            self.driver.synchronise_stream(stream)
            return

        def empty(lane: Lane, part: Part) -> None:
            start, end = part
            half, event = lane.half()
            self.driver.copy_out(half.ctypes.data, source + start, end - start, stream)
            self.driver.record_event(event, stream)
            self.driver.synchronise_event(event)
            np.copyto(target[start:end], half[: end - start])

        self.share(_parts(target.size), empty)

    def share(self, parts: Sequence[T], work: Callable[[Lane, T], None]) -> None:
        """Do `work` once for each part, on as many lanes as have something to do; it is done when this returns."""
        with self._lock:
            count = min(len(parts), LANES)
            while len(self._lanes) < count:
                self._lanes.append(Lane(self.driver))
            waiting = deque(parts)
            if count < 2:
                self._take_from(waiting, work, self._lanes[:count])
                return
            threads = self._threads or ThreadPoolExecutor(LANES, thread_name_prefix="isogrid-copy")
            self._threads = threads
            running = [threads.submit(self._take_from, waiting, work, [lane]) for lane in self._lanes[:count]]
            try:
                wait(running)
            finally:
                waiting.clear()  # whatever interrupts this: nobody writes to an array afterwards
                wait(running)
            for lane in running:
                lane.result()

    def _take_from(self, waiting: "deque[Any]", work: Callable[[Lane, Any], None], lanes: Iterable[Lane]) -> None:
        """What one lane does: part after part, until there is none."""
        for lane in lanes:
            self._enter()
            while True:
                try:
                    part = waiting.popleft()
                except IndexError:
                    return
                try:
                    work(lane, part)
                except BaseException:
                    waiting.clear()
                    raise


def _parts(size: int) -> list[Part]:
    """Parts of half a lane's room, or smaller ones where that leaves lanes without any."""
    each = min(max(-(-size // LANES), _LEAST_PART), ROOM // 2)
    return [(start, min(start + each, size)) for start in range(0, size, each)]
