"""Times of launches and transfers on the device, by events of the driver, for a profile of the host."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from isogrid.runtimes.cuda_driver import Driver


class DeviceClock:
    """Events around what is queued while a profile is open; read when it closes."""

    def __init__(self, driver: Driver, device: str, profile: Any) -> None:
        self._driver = driver
        self._device = device
        self._profile = profile
        self._pending: list[tuple[Any, int, int]] = []
        self._zero = driver.create_event(True)
        driver.synchronise()
        driver.record_event(self._zero, 0)
        driver.synchronise_event(self._zero)
        self._offset = time.perf_counter() - profile.began

    @contextmanager
    def span(self, kind: str, name: str, stream: int, size: int = 0) -> Generator[None]:
        """Time what a block queues in a stream."""
        first, last = self._driver.create_event(True), self._driver.create_event(True)
        with self._profile.span(kind, name, self._device, size) as entry:
            self._driver.record_event(first, stream)
            try:
                yield
            finally:
                self._driver.record_event(last, stream)
        self._pending.append((entry, first, last))

    def close(self) -> None:
        """Wait, and give every entry its times on the device."""
        self._driver.synchronise()
        for entry, first, last in self._pending:
            entry.device_start = self._offset + self._driver.milliseconds(self._zero, first) / 1e3
            entry.device_seconds = self._driver.milliseconds(first, last) / 1e3
            self._driver.destroy_event(first)
            self._driver.destroy_event(last)
        self._driver.destroy_event(self._zero)
        self._pending.clear()
