"""A driver without a GPU: memory is the host's, launches run in the simulator, and nothing runs before it must.

Work waits in its stream until somebody synchronises, so that a missing wait shows: memory that a copy should have
filled holds 0xAA until then, freed memory 0xDD. Failures can be ordered by the name of a call.
"""

import ctypes
import functools
import itertools
import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from isogrid.runtimes.cuda_driver import DEVICE_ATTRIBUTES, OUT_OF_MEMORY, Driver, DriverError
from tests.cuda.simulator import Simulated, simulate

UNWRITTEN, FREED = 0xAA, 0xDD
_NATIVE_LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, *(ctypes.c_uint,) * 7, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)
_NATIVE_CONTEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_size_t))
#: Calls that native code makes besides the launch, with how many words each takes.
_NATIVE_CALLS = (
    ("cuMemcpyHtoDAsync_v2", "copy_in", 4),
    ("cuMemcpyDtoHAsync_v2", "copy_out", 4),
    ("cuStreamSynchronize", "synchronise_stream", 1),
    ("cuCtxSetCurrent", "current_context", 1),
)
#: The primary context of the first device; the others count on from it.
_FIRST_CONTEXT = 7000
_ATTRIBUTES = {"major": 9, "minor": 0, "processors": 132, "threads_per_processor": 2048, "threads_per_block": 1024}


@functools.lru_cache(maxsize=4096)
def simulated(text: str) -> tuple[Simulated, dict[str, int]]:
    """A module of the simulator, and how many parameters each entry has; the same text is compiled once."""
    dynamic = re.match(r"; dynamic (\d+)", text)
    return simulate(text, int(dynamic[1]) if dynamic else 0), {
        name: len([p for p in re.split(r", (?![^(]*\))", parameters) if p])
        for name, parameters in re.findall(r"define ptx_kernel void @(\w+)\((.*)\)", text)
    }


class FakeDriver(Driver):
    """Every method of the table. `memory` bounds what can be allocated."""

    is_real = False

    def __init__(self, devices: int = 1, memory: int = 1 << 30) -> None:
        super().__init__(None)
        self.devices, self.memory = devices, memory
        self.lock = threading.RLock()
        self.numbers = itertools.count(1 << 20)
        self.blocks: dict[int, np.ndarray[Any, Any]] = {}
        self.pinned: dict[int, np.ndarray[Any, Any]] = {}
        #: The context of each thread. The default stream of a context has its number, that of the first one 0.
        self.thread = threading.local()
        #: Contexts of streams, events, functions and graphs, which must not be mixed.
        self.context_of: dict[int, int] = {}
        self.streams: dict[int, list[Callable[[], None]]] = {}
        self.events: dict[int, tuple[int, int]] = {}
        self.done: dict[int, int] = {}
        self.queued: dict[int, int] = {}
        for device in range(devices):
            self._open(device and _FIRST_CONTEXT + device, _FIRST_CONTEXT + device)
        self.modules: dict[int, tuple[Simulated, dict[str, int]]] = {}
        self.functions: dict[int, tuple[Simulated, str, int]] = {}
        self.graphs: dict[int, list[Callable[[], None]]] = {}
        self.capturing: dict[int, list[Callable[[], None]]] = {}
        self.failures: dict[str, list[str]] = {}
        self.calls: list[str] = []
        self.launches = self.native_launches = self.early = 0
        self.native = {"cuLaunchKernel": _NATIVE_LAUNCH(self._native_launch)}
        self.native["cuCtxGetCurrent"] = _NATIVE_CONTEXT(self._native_context)
        for name, call, count in _NATIVE_CALLS:
            kind = ctypes.CFUNCTYPE(ctypes.c_int, *(ctypes.c_size_t,) * count)
            self.native[name] = kind(functools.partial(self._native_call, call))
        self.failed: dict[int, DriverError] = {}

    # --- orders of the test ------------------------------------------------------------------------------------------

    def fail(self, call: str, name: str, times: int = 1) -> None:
        """Let the next calls of that method fail with the driver's `name`."""
        self.failures.setdefault(call, []).extend([name] * times)

    def _open(self, stream: int, context: int) -> None:
        self.streams[stream], self.context_of[stream] = [], context
        self.done[stream] = self.queued[stream] = 0

    def _at(self, stream: int) -> int:
        """A stream; 0 stands for the default one of the thread's context."""
        context = self.thread_context()
        assert context, "a call without a context"
        return stream or (0 if context == _FIRST_CONTEXT else context)

    def _same_context(self, call: str, one: int, other: int) -> None:
        if self.context_of[one] != self.context_of[other]:
            raise DriverError(call, "CUDA_ERROR_INVALID_HANDLE", "things of two contexts")

    def _enter(self, call: str) -> None:
        self.calls.append(call)
        if self.failures.get(call):
            name = self.failures[call].pop(0)
            raise DriverError(call, name, "as the test ordered")

    # --- the driver and its devices ----------------------------------------------------------------------------------

    def initialise(self) -> None: ...

    def version(self) -> int:
        return 13000

    def device_count(self) -> int:
        return self.devices

    def device_name(self, device: int) -> str:
        return f"Simulated GPU {device}"

    def device_memory(self, device: int) -> int:
        return self.memory

    def device_attribute(self, name: str, device: int) -> int:
        assert name in DEVICE_ATTRIBUTES
        return _ATTRIBUTES.get(name, 65536)

    def primary_context(self, device: int) -> int:
        return _FIRST_CONTEXT + device

    def current_context(self, context: int) -> None:
        self.thread.context = context

    def thread_context(self) -> int:
        return getattr(self.thread, "context", 0)

    def synchronise(self) -> None:
        self._enter("synchronise")
        for stream in list(self.streams):
            self._run(stream)

    def memory_free(self) -> int:
        return self.memory - self.allocated

    @property
    def allocated(self) -> int:
        """Bytes of device memory in use."""
        return sum(block.size for block in self.blocks.values())

    def can_access_peer(self, device: int, other: int) -> bool:
        return True

    # --- memory ------------------------------------------------------------------------------------------------------

    def allocate(self, size: int) -> int:
        self._enter("allocate")
        if self.allocated + size > self.memory:
            raise DriverError("allocate", OUT_OF_MEMORY, "out of memory")
        room = np.full(size + 256, UNWRITTEN, np.uint8)
        address = -(-room.ctypes.data // 256) * 256
        self.blocks[address] = room[address - room.ctypes.data :][:size]
        return address

    def free(self, address: int) -> None:
        self.synchronise()
        self.blocks.pop(address)[...] = FREED

    def allocate_host(self, size: int) -> int:
        room = np.full(size + 256, UNWRITTEN, np.uint8)
        address = -(-room.ctypes.data // 256) * 256
        self.pinned[address] = room[address - room.ctypes.data :][:size]
        return address

    def free_host(self, address: int) -> None:
        self.pinned.pop(address)

    def copy_in(self, target: int, source: int, size: int, stream: int) -> None:
        self._enter("copy_in")
        if self._is_pinned(source):
            self._queue(stream, lambda: ctypes.memmove(target, source, size))
            return
        content = ctypes.string_at(source, size)
        self._queue(stream, lambda: ctypes.memmove(target, content, size))

    def copy_out(self, target: int, source: int, size: int, stream: int) -> None:
        self._enter("copy_out")
        if not (self._is_pinned(target) and self.streams[self._at(stream)]):  # what waits there may read it first
            ctypes.memset(target, UNWRITTEN, size)
        self._queue(stream, lambda: ctypes.memmove(target, source, size))

    def copy_within(self, target: int, source: int, size: int, stream: int) -> None:
        self._enter("copy_within")
        self._queue(stream, lambda: ctypes.memmove(target, source, size))

    def copy_peer(self, target: int, target_context: int, source: int, source_context: int, size: int, s: int) -> None:
        self._enter("copy_peer")
        assert target_context != source_context
        self._queue(s, lambda: ctypes.memmove(target, source, size))

    def fill_bytes(self, target: int, value: int, count: int, stream: int) -> None:
        self._fill(target, np.uint8(value), count, stream)

    def fill_shorts(self, target: int, value: int, count: int, stream: int) -> None:
        self._fill(target, np.uint16(value), count, stream)

    def fill_words(self, target: int, value: int, count: int, stream: int) -> None:
        self._fill(target, np.uint32(value), count, stream)

    def _fill(self, target: int, value: Any, count: int, stream: int) -> None:
        assert target % value.itemsize == 0
        content = value.tobytes() * count
        self._queue(stream, lambda: ctypes.memmove(target, content, len(content)))

    def _is_pinned(self, address: int) -> bool:
        return any(start <= address < start + room.size for start, room in self.pinned.items())

    # --- streams and events ------------------------------------------------------------------------------------------

    def create_stream(self) -> int:
        number = next(self.numbers)
        self._open(number, self.thread_context() or _FIRST_CONTEXT)  # a test may make the first call
        return number

    def destroy_stream(self, stream: int) -> None:
        self._run(stream)
        del self.streams[stream]

    def synchronise_stream(self, stream: int) -> None:
        self._enter("synchronise_stream")
        self._run(self._at(stream))

    def stream_is_done(self, stream: int) -> bool:
        return not self.streams[self._at(stream)]

    def create_event(self, timing: bool = False) -> int:
        number = next(self.numbers)
        self.context_of[number] = self.thread_context()
        return number

    def destroy_event(self, event: int) -> None: ...

    def record_event(self, event: int, stream: int) -> None:
        stream = self._at(stream)
        assert stream in self.streams, "a stream that was destroyed"
        self._same_context("cuEventRecord", event, stream)
        with self.lock:
            if stream not in self.capturing:
                self.events[event] = (stream, self.queued[stream])

    def wait_event(self, stream: int, event: int) -> None:
        stream, recorded = self._at(stream), self.events.get(event)
        if recorded is not None and recorded[0] in self.streams:
            self._queue(stream, lambda: self._run(*recorded))

    def synchronise_event(self, event: int) -> None:
        if event in self.events:
            self._run(*self.events[event])

    def event_is_done(self, event: int) -> bool:
        stream, position = self.events.get(event, (0, 0))
        return self.done[stream] >= position

    def milliseconds(self, start: int, end: int) -> float:
        return 0.25

    def _queue(self, stream: int, work: Callable[[], Any]) -> None:
        stream = self._at(stream)
        with self.lock:
            if stream in self.capturing:
                self.capturing[stream].append(work)
                return
            self.streams[stream].append(work)
            self.queued[stream] += 1

    def _run(self, stream: int, until: int | None = None) -> None:
        """Do what waits in a stream, up to a position."""
        with self.lock:
            while self.streams.get(stream) and (until is None or self.done[stream] < until):
                work = self.streams[stream].pop(0)
                self.done[stream] += 1
                work()

    # --- code --------------------------------------------------------------------------------------------------------

    def link(self, ptx: str) -> bytes:
        self._enter("link")
        return ptx.encode()

    def load(self, image: bytes) -> int:
        self._enter("load")
        number = next(self.numbers)
        self.context_of[number] = self.thread_context()
        self.modules[number] = simulated(image.decode())
        return number

    def unload(self, module: int) -> None:
        self.modules.pop(module)

    def function(self, module: int, name: str) -> int:
        number = next(self.numbers)
        self.context_of[number] = self.context_of[module]
        code, counts = self.modules[module]
        self.functions[number] = (code, name, counts[name])
        return number

    def function_attribute(self, name: str, function: int) -> int:
        return {"registers": 24, "local_bytes": 0, "shared_bytes": 128, "threads": 1024, "const_bytes": 0}[name]

    def allow_shared(self, function: int, size: int) -> None: ...

    def resident_blocks(self, function: int, threads: int, shared: int) -> int:
        return 2048 // max(threads, 32)

    def launch(
        self, function: int, blocks: int, threads: int, shared: int, stream: int, parameters: int, programmatic: bool
    ) -> None:
        self._enter("launch")
        self._same_context("cuLaunchKernel", function, self._at(stream))
        assert 1 <= blocks < 1 << 31 and 1 <= threads <= 1024, (blocks, threads)
        self.launches += 1
        self.early += programmatic
        code, entry, count = self.functions[function]
        words = [ctypes.c_uint64.from_address(p).value for p in (ctypes.c_void_p * count).from_address(parameters)]
        slots = (ctypes.c_int64 * count)(*(word - (1 << 64) if word >> 63 else word for word in words))
        self._queue(stream, lambda: code.launch(entry, blocks, threads, slots))

    # --- graphs ------------------------------------------------------------------------------------------------------

    def begin_capture(self, stream: int) -> None:
        assert stream != 0, "the legacy stream cannot be captured"
        self.capturing[stream] = []

    def end_capture(self, stream: int) -> int:
        number = next(self.numbers)
        self.graphs[number] = self.capturing.pop(stream)
        return number

    def instantiate(self, graph: int) -> int:
        number = next(self.numbers)
        self.graphs[number] = list(self.graphs[graph])
        return number

    def launch_graph(self, executable: int, stream: int) -> None:
        for work in self.graphs[executable]:
            self._queue(stream, work)

    def destroy_graph(self, graph: int) -> None:
        self.graphs.pop(graph)

    def destroy_executable(self, executable: int) -> None:
        self.graphs.pop(executable)

    def address_of(self, name: str) -> int:
        """The calls that C code makes."""
        return ctypes.cast(self.native[name], ctypes.c_void_p).value or 0 if name in self.native else 0

    def failure(self, result: int, what: str) -> DriverError:
        return self.failed.pop(result)

    def _native_call(self, call: str, *arguments: int) -> int:
        with self.lock:
            try:
                getattr(self, call)(*arguments)
            except DriverError as error:
                code = 1000 + len(self.failed)
                self.failed[code] = error
                return code
        return 0

    def _native_context(self, found: Any) -> int:
        found[0] = self.thread_context()
        return 0

    def _native_launch(self, function: int, x: int, y: int, z: int, threads: int, *rest: Any) -> int:
        assert y == z == 1 and rest[:2] == (1, 1) and rest[5] is None, "a one-dimensional launch without extras"
        if not self.thread_context():
            return 201  # CUDA_ERROR_INVALID_CONTEXT
        try:
            self.launch(function, x, threads, rest[2], rest[3] or 0, rest[4], False)
        except DriverError:
            return 999
        self.native_launches += 1
        return 0
