"""Copies between host memory that may be paged out and a GPU: small ones directly, large ones on several lanes.

A lane is a thread with pinned memory and a stream of its own, in machine code (`lane_code.py`): one processor alone
fills pinned memory at a sixth of the bus's speed, so several do, and each waits for the bus while the others fill. A
kernel can run between the way in and the way out, part by part.
"""

import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Final

from isogrid.backends.cuda.host_code import load_function
from isogrid.backends.cuda.lane_code import COMES_OUT, GOES_IN, JOB, LANE, lane_text
from isogrid.runtimes.cuda_driver import Driver
from isogrid.runtimes.memory import Bytes
from isogrid.support.records import dataclass

#: Pageable copies of up to this size are as fast as staged ones.
_DIRECT = 1 << 17
#: Pinned bytes of a lane.
ROOM = 4 << 20
#: Bytes of a part of an array, at least and at most.
_LEAST = 1 << 20
PART = 2 << 20
#: More lanes than this only wait for each other's memory, on a host with 16 processors.
LANES: Final = min(12, os.cpu_count() or 1)


@dataclass(frozen=True, slots=True)
class Move:
    """What happens to an array: part n is its bytes from n * each on. `kind` is GOES_IN, COMES_OUT or both."""

    host: int
    device: int
    each: int
    size: int
    kind: int


@dataclass(frozen=True, slots=True)
class Between:
    """A kernel that runs part by part: `blocks` of a part and in all, the parameters, and which of them says where the
    blocks of a launch start."""

    function: int
    threads: int
    shared: int
    blocks: int
    total: int
    words: Sequence[int]
    start: int


def part_of(size: int) -> int:
    """Bytes of a part of so many, of which each lane should have one."""
    return min(max(-(-size // LANES), _LEAST), PART)


class _Lane:
    def __init__(self, driver: Driver) -> None:
        self.room = driver.allocate_host(ROOM)
        self.stream = driver.create_stream()


class Staging:
    """The lanes of one device, each made when there is first something for it to do. `enter` makes the device that of a
    thread."""

    def __init__(self, driver: Driver, enter: Callable[[], None]) -> None:
        self.driver = driver
        self._enter = enter
        self._lanes: list[_Lane] = []
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None
        self._code: Any = None

    def copy_in(self, target: int, source: Bytes, stream: int) -> None:
        """Host to device, behind what `stream` has to do; `source` may change when this returns."""
        if source.size <= _DIRECT:
            self.driver.copy_in(target, source.ctypes.data, source.size, stream)
            # The driver may read pageable memory only when the copy's turn comes.
            self.driver.synchronise_stream(stream)
            return
        move = Move(source.ctypes.data, target, part_of(source.size), source.size, GOES_IN)
        self.run([move], -(-source.size // move.each), stream)

    def copy_out(self, target: Bytes, source: int, stream: int) -> None:
        """Device to host; complete when this returns."""
        if target.size <= _DIRECT:
            self.driver.copy_out(target.ctypes.data, source, target.size, stream)
            self.driver.synchronise_stream(stream)
            return
        move = Move(target.ctypes.data, source, part_of(target.size), target.size, COMES_OUT)
        self.run([move], -(-target.size // move.each), stream)

    def run(self, moves: Sequence[Move], parts: int, stream: int, between: Between | None = None) -> None:
        """Do all parts, behind what `stream` has to do; they are done when this returns."""
        driver = self.driver
        with self._lock:
            lanes = self._some(min(LANES, parts))
            job = _Job(driver, moves, parts, between)
            ready = driver.create_event()
            driver.record_event(ready, stream)
            for lane in lanes:
                driver.wait_event(lane.stream, ready)
            driver.destroy_event(ready)  # the driver keeps it until it has happened
            self._drive(job, lanes)
            if job.failed:
                raise driver.failure(job.failed, "a copy between host and device")

    def _some(self, count: int) -> list[_Lane]:
        while len(self._lanes) < count:
            self._lanes.append(_Lane(self.driver))
        if self._code is None:
            kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
            self._code = kind(load_function(lane_text(), "lane"))
        return self._lanes[:count]

    def _drive(self, job: "_Job", lanes: Sequence[_Lane]) -> None:
        """Each lane on a thread, the last on this one."""
        if self._threads is None and len(lanes) > 1:
            self._threads = ThreadPoolExecutor(LANES, thread_name_prefix="isogrid-copy")
        running = [self._threads.submit(self._one, job, lane) for lane in lanes[1:]] if self._threads else []
        try:
            self._one(job, lanes[0])
            wait(running)
        finally:
            job.stop()  # whatever interrupts this: nobody writes to an array afterwards
            wait(running)
        for lane in running:
            lane.result()

    def _one(self, job: "_Job", lane: _Lane) -> None:
        self._enter()
        own = job.words_of(lane)
        self._code(job.address, ctypes.addressof(own))


class _Job:
    """The words that lanes share; see `lane_code.py`."""

    def __init__(self, driver: Driver, moves: Sequence[Move], parts: int, between: Between | None) -> None:
        fields = [(m.host, m.device, m.each, m.size, m.kind) for m in moves]
        self._moves = (ctypes.c_int64 * (5 * len(fields)))(*(word for move in fields for word in move))
        parameters = () if between is None else between.words
        self._parameters = (ctypes.c_uint64 * max(len(parameters), 1))(*(w & (1 << 64) - 1 for w in parameters))
        calls = ("cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize")
        copy_in, copy_out, synchronise = map(driver.address_of, calls)
        values = {"parts": parts, "copy_in": copy_in, "copy_out": copy_out, "synchronise": synchronise}
        values |= {"moves": len(fields), "list": ctypes.addressof(self._moves)}
        if between is not None:
            values |= {"launch": driver.address_of("cuLaunchKernel"), "function": between.function}
            values |= {"threads": between.threads, "shared": between.shared, "start": between.start}
            values |= {"blocks": between.blocks, "total": between.total}
            values |= {"words": ctypes.addressof(self._parameters), "count": len(parameters)}
        self._words = (ctypes.c_int64 * len(JOB))(*(values.get(name, 0) for name in JOB))
        self._parts = parts
        self.address = ctypes.addressof(self._words)

    @property
    def failed(self) -> int:
        """The driver's code of the first call that failed, 0 if none did."""
        return self._words[JOB.index("failed")]

    def stop(self) -> None:
        """No lane takes another part."""
        self._words[JOB.index("next")] = self._parts

    def words_of(self, lane: _Lane) -> Any:
        """The words of one lane, with room for its own parameters and the pointers to them."""
        count = len(self._parameters)
        words = (ctypes.c_int64 * (len(LANE) + 2 * count))()
        own = ctypes.addressof(words) + 8 * len(LANE)
        words[: len(LANE)] = (lane.room, lane.stream, own, own + 8 * count)
        words[len(LANE) + count :] = [own + 8 * number for number in range(count)]
        return words
