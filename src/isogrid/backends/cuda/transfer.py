"""Copies between host memory that may be paged out and a GPU: small ones directly, large ones through pinned pieces.

A ring of pinned pieces is filled by the processor while the bus empties the one before it.
"""

import threading

import numpy as np

from isogrid.runtimes.cuda_driver import Driver
from isogrid.runtimes.memory import Bytes, bytes_at

#: Pageable copies of up to this size are as fast as staged ones.
_DIRECT = 1 << 17
_PIECE = 16 << 20
_PIECES = 3


class Staging:
    """The ring of one device, made when the first large copy asks for it."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self._pieces: list[Bytes] = []
        self._events: list[int] = []
        self._lock = threading.Lock()

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
                np.copyto(piece[: part.size], part)
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
                    np.copyto(part, self._pieces[ready % _PIECES][: part.size])

    def _prepare(self) -> None:
        while len(self._pieces) < _PIECES:
            address = self.driver.allocate_host(_PIECE)
            self._pieces.append(bytes_at(address, _PIECE))
            self._events.append(self.driver.create_event())
