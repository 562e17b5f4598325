"""Streams and events: launches of different streams may run at the same time, those of one run in order.

    side = ig.Stream("cuda")
    k.launch(x, y, stream=side)
    mark = side.record()
    other.wait(mark)

Arrays are safe without events: a launch waits by itself for what other streams do with its arrays. On devices that
finish each launch at once, streams exist and order nothing.
"""

from typing import Any

from isogrid.launch.backends import runtime
from isogrid.launch.devices import Device, choose
from isogrid.launch.devices import device as device_named
from isogrid.launch.errors import LaunchValueError


class Event:
    """A mark in a stream, reached when everything queued before it is done."""

    def __init__(self, stream: "Stream") -> None:
        self._driver = stream.driver
        self._device = stream.device
        self.handle = 0 if self._driver is None else stream.mark()

    @property
    def is_done(self) -> bool:
        """Whether the mark is reached."""
        return self._driver is None or self._driver.event_is_done(self.handle)

    def synchronize(self) -> None:
        """Wait for the mark. Traps are raised by `ig.synchronize()`."""
        if self._driver is not None:
            self._driver.synchronise_event(self.handle)

    def seconds_since(self, earlier: "Event") -> float:
        """Time on the device between two marks that are both reached."""
        if self._driver is None or earlier.handle == 0:
            raise LaunchValueError(f"the device {self._device} has no clock of its own; use time.perf_counter")
        return self._driver.milliseconds(earlier.handle, self.handle) / 1e3

    def __del__(self) -> None:
        if self.handle:
            self._driver.destroy_event(self.handle)


class Stream:
    """A queue of a device. Pass it as `stream=` of `k.launch(...)`; other libraries take it by `__cuda_stream__`."""

    def __init__(self, device: "str | Device | None" = None) -> None:
        chosen = choose(None).device if device is None else device_named(device)
        self.device = chosen.name
        owner: Any = runtime(self.device)
        self._queue: Any = owner.streams if hasattr(owner, "streams") else None
        self.handle: int = 0 if self._queue is None else self._queue.new_stream()

    @property
    def driver(self) -> Any:
        """The table of the driver's calls, None where the device has none."""
        return None if self._queue is None else self._queue.driver

    def mark(self) -> int:
        """The driver's event behind what is queued now."""
        return self._queue.mark_stream(self.handle)

    def record(self) -> Event:
        """A mark behind what is queued now."""
        return Event(self)

    def wait(self, event: Event) -> None:
        """Let later work of this stream wait for a mark of any stream."""
        if self.driver is not None and event.handle:
            self.driver.wait_event(self.handle, event.handle)

    def synchronize(self) -> None:
        """Wait for what is queued here, then raise the first pending trap of the device."""
        if self.driver is not None:
            self.driver.synchronise_stream(self.handle)
        owner: Any = runtime(self.device)
        owner.raise_pending()

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def __repr__(self) -> str:
        return f"<isogrid stream of {self.device}>"

    def __del__(self) -> None:
        if getattr(self, "handle", 0):
            self._queue.drop_stream(self.handle)
