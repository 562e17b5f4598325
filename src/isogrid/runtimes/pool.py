"""A pool in front of a slow allocator: freed pieces are kept by size and handed out again.

The caller orders the uses of a piece; the pool remembers only the stream that used it last. When the allocator has
nothing left, everything that is kept goes back to it and it is asked once more.
"""

import gc
from collections.abc import Callable

from isogrid.support.locks import new_lock

#: Smaller pieces are rounded to eighths of a power of two, larger ones to this.
_LARGE = 1 << 21
_SMALLEST = 512


class OutOfMemory(Exception):
    """The allocator has nothing left."""


def rounded(size: int) -> int:
    """The size of the piece that a request gets."""
    if size <= _SMALLEST:
        return _SMALLEST
    if size > _LARGE:
        return -(-size // _LARGE) * _LARGE
    step = max(_SMALLEST, 1 << max((size - 1).bit_length() - 4, 0))
    return -(-size // step) * step


class Pool:
    """Pieces by size. `obtain` raises `OutOfMemory`; `before_release` waits for whatever may still use kept pieces."""

    def __init__(
        self, obtain: Callable[[int], int], give_up: Callable[[int], None], before_release: Callable[[], None]
    ) -> None:
        self._obtain = obtain
        self._give_up = give_up
        self._before_release = before_release
        self._kept: dict[int, list[tuple[int, int]]] = {}
        self._lock = new_lock()
        self.used = self.most_used = self.reserved = 0
        self.requests = self.reused = self.retries = 0

    def take(self, size: int) -> tuple[int, int, int]:
        """Address, size, and the stream that used the piece last (-1: none)."""
        wanted = rounded(size)
        with self._lock:
            self.requests += 1
            kept = self._kept.get(wanted)
            if kept:
                address, stream = kept.pop()
                self.reused += 1
            else:
                address, stream = self._fresh(wanted), -1
            self.used += wanted
            self.most_used = max(self.most_used, self.used)
        return address, wanted, stream

    def give_back(self, address: int, size: int, stream: int) -> None:
        """Keep the piece for a later request."""
        with self._lock:
            self.used -= size
            self._kept.setdefault(size, []).append((address, stream))

    def release(self) -> int:
        """Give every kept piece back to the allocator; returns the bytes."""
        with self._lock:
            kept, self._kept = self._kept, {}
            if not any(kept.values()):
                return 0
            self._before_release()
            freed = 0
            for size, pieces in kept.items():
                for address, _ in pieces:
                    self._give_up(address)
                    freed += size
            self.reserved -= freed
            return freed

    def statistics(self) -> dict[str, int]:
        with self._lock:
            return {
                "used": self.used,
                "most_used": self.most_used,
                "reserved": self.reserved,
                "requests": self.requests,
                "reused": self.reused,
                "retries": self.retries,
            }

    def _fresh(self, size: int) -> int:
        try:
            address = self._obtain(size)
        except OutOfMemory:
            self.retries += 1
            gc.collect()  # arrays in cycles
            self.release()
            address = self._obtain(size)
        self.reserved += size
        return address
