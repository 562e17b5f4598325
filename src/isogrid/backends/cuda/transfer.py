"""Copies between host memory that may be paged out and a GPU: small ones directly, large ones through pinned pieces.

A ring of pinned pieces is filled by the processor while the bus empties the one before it.
"""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from isogrid.runtimes.cuda_driver import Driver
from isogrid.runtimes.memory import Bytes, bytes_at

#: Pageable copies of up to this size are as fast as staged ones.
_DIRECT = 1 << 17
_PIECE = 16 << 20
_PIECES = 3
#: Threads that copy between pageable and pinned memory.
_WORKERS = min(8, os.cpu_count() or 1)


class Staging:
    """The ring of one device, made when the first large copy asks for it."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self._pieces: list[Bytes] = []
        self._events: list[int] = []
        self._lock = threading.Lock()
        self._workers: ThreadPoolExecutor | None = None

    def copy_in(self, target: int, source: Bytes, stream: int) -> None:
        """Host to device, queued; `source` may change when this returns."""
        if source.size <= _DIRECT:
            self.driver.copy_in(target, source.ctypes.data, source.size, stream)
            # The driver may read pageable memory only when the copy's turn comes.
            self.driver.synchronise_stream(stream)
            return
        with self._lock:
            self._prepare()
            for number, start in enumerate(range(0, source.size, _PIECE)):
                piece, event = self._pieces[number % _PIECES], self._events[number % _PIECES]
                part = source[start : start + _PIECE]
                self.driver.synchronise_event(event)  # the copy that used the piece before is done
                self._copy(piece[: part.size], part)
                self.driver.copy_in(target + start, piece.ctypes.data, part.size, stream)
                self.driver.record_event(event, stream)

    def copy_out(self, target: Bytes, source: int, stream: int) -> None:
        """Device to host; complete when this returns."""
        if target.size <= _DIRECT:
            self.driver.copy_out(target.ctypes.data, source, target.size, stream)
            self.driver.synchronise_stream(stream)
            return
        with self._lock:
            self._prepare()
            starts = list(range(0, target.size, _PIECE))
            for number in range(len(starts) + _PIECES - 1):
                if number < len(starts):
                    piece, event = self._pieces[number % _PIECES], self._events[number % _PIECES]
                    size = min(_PIECE, target.size - starts[number])
                    self.driver.synchronise_event(event)  # a copy of another stream may still read the piece
                    self.driver.copy_out(piece.ctypes.data, source + starts[number], size, stream)
                    self.driver.record_event(event, stream)
                ready = number - _PIECES + 1
                if ready >= 0:
                    self.driver.synchronise_event(self._events[ready % _PIECES])
                    part = target[starts[ready] : starts[ready] + _PIECE]
                    self._copy(part, self._pieces[ready % _PIECES][: part.size])

    def _copy(self, target: Bytes, source: Bytes) -> None:
        """One processor fills a piece at a fifth of the bus's speed, so several share the work."""
        if self._workers is None or target.size < _PIECE // 4:
            np.copyto(target, source)
            return
        step = -(-target.size // _WORKERS)
        parts = [(target[at : at + step], source[at : at + step]) for at in range(0, target.size, step)]
        for done in [self._workers.submit(np.copyto, *part) for part in parts]:
            done.result()

    def _prepare(self) -> None:
        if self._workers is None and _WORKERS > 1:
            self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="isogrid-copy")
        while len(self._pieces) < _PIECES:
            address = self.driver.allocate_host(_PIECE)
            self._pieces.append(bytes_at(address, _PIECE))
            self._events.append(self.driver.create_event())
