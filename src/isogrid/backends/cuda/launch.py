"""One launch on a GPU: its parameters, its host arrays copied in and out, its grid in as many pieces as needed."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from isogrid.backends.cuda import layout
from isogrid.backends.cuda.artifact import CudaArtifact
from isogrid.backends.cuda.loader import Loaded
from isogrid.backends.cuda.memory import CudaMemory
from isogrid.backends.cuda.queue import DEFAULT_STREAM, Prepared, Queue
from isogrid.backends.cuda.slices import Rows, code_for, slices_of
from isogrid.backends.cuda.transfer import Between
from isogrid.backends.cuda.traps import too_many_wraps, trap_of
from isogrid.backends.cuda.watches import counts_of, event_list
from isogrid.ir import kernel as k
from isogrid.ir.types import Access, Scalar
from isogrid.runtimes.memory import Block
from isogrid.runtimes.protocol import BoundLaunch
from isogrid.support.errors import KnownLimit
from isogrid.traps import Trap

#: Blocks of one launch of the driver.
MOST_BLOCKS: Final = (1 << 31) - 1
#: Events that the watch of a launch has room for at first.
_WATCHED: Final = 4096


class _TooManyWraps(Exception):
    """The watch needs more room."""


class Launch:
    """Everything about one launch of an artifact; `choose` gives the code for arrays that are aligned or not."""

    def __init__(
        self,
        queue: Queue,
        memory: CudaMemory,
        artifact: CudaArtifact,
        bound: BoundLaunch,
        choose: Callable[[bool], Loaded],
    ) -> None:
        self.queue = queue
        self.memory = memory
        self.head = artifact.head
        self.bound = bound
        self.written, self.own_rows = artifact.written, artifact.own_rows
        self.parameters = [p for p in self.head.parameters if isinstance(p, k.ArrayParameter)]
        self.host: dict[str, np.ndarray[Any, Any]] = {}
        self.foreign: list[int] = []
        self.blocks: dict[str, Block] = {}
        self.addresses: dict[str, int] = {}
        self._find_arrays()
        self.loaded = choose(all(address % 16 == 0 for address in self.addresses.values()))
        self.stream = self._stream()
        #: Whether it may start before the launch in front of it ends; in graphs alone, where we know that launch.
        self._early = False

    def _find_arrays(self) -> None:
        for parameter in self.parameters:
            array = self.bound.arrays[parameter.name]
            if isinstance(array, np.ndarray):
                block = self.memory.take(array.nbytes)
                self.host[parameter.name] = array
                self.blocks[parameter.name], self.addresses[parameter.name] = block, block.address
                continue
            self.blocks[parameter.name], self.addresses[parameter.name] = array.block, array.address
            if array.foreign_stream is not None:
                self.foreign.append(array.foreign_stream)

    def _stream(self) -> int:
        """The stream that was named, else that of the library whose arrays take part, else the queue's."""
        named = self.bound.stream
        if named is not None:
            return stream_handle(named)
        return self.foreign[0] if self.foreign else self.queue.stream

    # --- run ---------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Queue it, and wait for it where the contract says so."""
        for other in self.foreign:
            if other != self.stream:
                self.queue.wait_for(self.stream, other)
        self.queue.order(list(self.blocks.values()), self.stream)
        if not self._in_slices():
            self._at_once()
        if self.stream != DEFAULT_STREAM and self.stream not in self.queue.own_streams:
            self.queue.adopt_order(list(self.blocks.values()), self.stream)

    def _at_once(self) -> None:
        room = _WATCHED
        while True:
            try:
                self._once(room)
                return
            except _TooManyWraps:
                room *= 64

    def _in_slices(self) -> bool:
        """Do a large launch on host arrays in slices, if that may be."""
        names = [p.name for p in self.parameters]
        written = {p.name for p in self.parameters if p.access.writes}
        if len(self.host) < len(names) or not self.own_rows or not written <= self.own_rows:
            return False
        module = self.loaded.variant.module
        arrays = [self._rows(p) for p in self.parameters if p.name in self.own_rows]
        slices = slices_of(arrays, self.bound.extents, module.tile)
        code = code_for(self.loaded) if slices is not None else None
        if slices is None or code is None:
            return False
        self._copy_in(frozenset(names) - self.own_rows)
        moves = [rows.move(slices.rows, self.bound.extents[0]) for rows in arrays]
        start = code.places["first_block"]
        words = self._words(code)
        between = Between(code.run, module.block, module.dynamic_shared, slices.blocks, slices.total, words, start)
        with self.queue.timed("launch in slices", self.head.name, self.stream, sum(move.size for move in moves)):
            self.memory.staging.run(moves, slices.count, self.stream, between)
        return True

    def _rows(self, parameter: k.ArrayParameter) -> Rows:
        array, address = self.host[parameter.name], self.addresses[parameter.name]
        return Rows(array, address, not self._is_replaced(parameter), parameter.access.writes)

    def _once(self, room: int) -> None:
        self._copy_in(frozenset(self.host))
        watched = "watch" in self.loaded.places
        counts = self._counts() if watched else None
        watch = counts if counts is not None or not watched else event_list(self.queue, room, self.stream)
        written = self._written()
        parts = self.loaded.parts(sum(size for _, _, size in written), lambda name: self.bound.arrays[name].nbytes)
        if len(parts) > 1:
            written = [(block, address, 0) for block, address, _ in written]
        prepared = self.queue.prepare(
            list(self.blocks.values()), written, self.stream, self.loaded.can_trap, self._explain
        )
        self._start(prepared, watch, parts)
        if len(parts) == 1:
            self.queue.finish(prepared)
        for other in self.foreign:
            if other != self.stream:
                self.queue.wait_for(other, self.stream)
        listed = watched and counts is None
        waits = bool(self.host) or listed or (bool(self.foreign) and self.bound.wait)
        if self.loaded.can_trap and waits:
            self._raise(prepared)
        self._copy_out()

    def _raise(self, prepared: Prepared) -> None:
        if prepared.status is None:
            return
        trap = self.queue.outcome(prepared.status)
        if trap is None:
            return
        if isinstance(trap, _Unknown):
            raise _TooManyWraps
        raise trap

    def _explain(self, words: list[int]) -> Trap:
        if too_many_wraps(words):
            return _Unknown()
        return trap_of(self.head, self.loaded.variant.module.sites, self.bound, words)

    def _written(self) -> list[tuple[Block, int, int]]:
        """What a trap must put back. The copies of host arrays are dropped, so nothing needs to be saved of them."""
        found: list[tuple[Block, int, int]] = []
        for parameter in self.parameters:
            if parameter.access.writes:
                name = parameter.name
                size = 0 if name in self.host else self.bound.arrays[name].nbytes
                found.append((self.blocks[name], self.addresses[name], size))
        return found

    def _start(self, prepared: Prepared, watch: Block | None, parts: Sequence[Loaded]) -> None:
        words = self._words(self.loaded)
        places = self.loaded.places
        words[places["guard"]] = prepared.guard
        record = 0
        if prepared.status is not None and self.loaded.can_trap:
            record = self.queue.statuses.record(prepared.status.number)
            words[places["record"]] = record
        if watch is not None:
            words[places["watch"]] = watch.address
        for part in parts:
            self._start_part(part, words)
        if watch is not None:
            self.queue.call(self.loaded.settle, 1, layout.SETTLE_THREADS, [record, watch.address], self.stream)

    def _start_part(self, part: Loaded, words: list[int]) -> None:
        module, places = part.variant.module, part.places
        total = part.blocks(self.bound.extents)
        if total > MOST_BLOCKS and "first_block" not in places:
            raise KnownLimit(f"{self.head.name}: {total} blocks in a launch of small sizes")
        for first in range(0, total, MOST_BLOCKS):
            if "first_block" in places:
                words[places["first_block"]] = first
            blocks = min(MOST_BLOCKS, total - first)
            with self.queue.timed("launch", self.head.name, self.stream):
                shared, early = module.dynamic_shared, self._early
                self.queue.call(part.run, blocks, module.block, words, self.stream, shared, early=early)

    def start_in(self, stream: int) -> None:
        """Queue the bare launch, with nothing before or behind it, among launches of ours."""
        self.stream = stream
        self._early = self.loaded.variant.module.waits
        self._start(Prepared(stream), None, (self.loaded,))

    def packed(self) -> tuple[list[int], int]:
        """The parameters of a launch that nothing waits for, and its blocks."""
        return self._words(self.loaded), self.loaded.blocks(self.bound.extents)

    def _words(self, loaded: Loaded) -> list[int]:
        bound = self.bound
        types = {p.name: p.type for p in self.head.parameters if isinstance(p, k.ScalarParameter)}
        words: list[int] = []
        module = loaded.variant.module
        for slot in module.layout.slots:
            match slot.kind:
                case "array":
                    words.append(self.addresses[slot.name])
                case "scalar":
                    words.append(scalar_bits(bound.scalars[slot.name], types[slot.name]))
                case "dim":
                    words.append(bound.dims[slot.name])
                case "extent":
                    words.append(bound.extents[int(slot.name)])
                case "divider":
                    axis = int(slot.name)
                    words.append(layout.divider(-(-bound.extents[axis] // module.tile[axis])))
                case "record" | "watch" | "guard" | "first_block":
                    words.append(0)
        return words

    def _counts(self) -> Block | None:
        sizes = [self._elements(p.name) if p.name in self._watched else 0 for p in self.head.parameters]
        return counts_of(self.queue, self.loaded, sizes, self.stream)

    @property
    def _watched(self) -> tuple[str, ...]:
        return self.loaded.variant.module.layout.watched

    def _elements(self, name: str) -> int:
        return int(self.bound.arrays[name].size)

    # --- host arrays -------------------------------------------------------------------------------------------------

    def _is_replaced(self, parameter: k.ArrayParameter) -> bool:
        """Whether what an array held before does not matter."""
        return parameter.access is Access.OUT and parameter.name in self.written

    def _copy_in(self, names: frozenset[str]) -> None:
        for parameter in self.parameters:
            name = parameter.name
            array = self.host[name] if name in names else None
            if array is not None and array.nbytes and not self._is_replaced(parameter):
                with self.queue.timed("copy in", name, self.stream, array.nbytes):
                    self.memory.staging.copy_in(self.addresses[name], _bytes_of(array), self.stream)

    def _copy_out(self) -> None:
        for parameter in self.parameters:
            array = self.host.get(parameter.name)
            if array is not None and parameter.access.writes and array.nbytes:
                with self.queue.timed("copy out", parameter.name, self.stream, array.nbytes):
                    self.memory.staging.copy_out(_bytes_of(array), self.addresses[parameter.name], self.stream)
        if self.host:
            self.queue.driver.synchronise_stream(self.stream)


class _Unknown(Trap):
    """Stands for a trap whose total the watch could not tell."""


def _bytes_of(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, np.dtype[np.uint8]]":
    return array.reshape(-1).view(np.uint8)


def scalar_bits(value: Any, type: Scalar) -> int:
    """The slot of a scalar: its bits in the low bytes."""
    if type.is_float:
        return int.from_bytes(np.asarray(value, type.numpy).tobytes(), "little")
    return int(value) & ((1 << type.bits) - 1)


def stream_handle(stream: Any) -> int:
    """The driver's handle of a stream: one of ours, of another library by `__cuda_stream__`, or the number itself."""
    if isinstance(stream, int):
        return DEFAULT_STREAM if stream in (0, 1) else stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        _, handle = protocol()
        return int(handle)
    for name in ("cuda_stream", "ptr", "handle"):
        handle = getattr(stream, name, None)
        if isinstance(handle, int):
            return handle
    raise TypeError(
        f"stream= takes a stream of the device, its handle, or an object with __cuda_stream__, not {stream!r}"
    )
