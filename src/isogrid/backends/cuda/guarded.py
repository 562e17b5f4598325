"""Launches that a stub has checked and packed, but must not start itself: those of kernels that may trap, and those of
any kernel while the fate of earlier launches is not known."""

import ctypes
from collections.abc import Sequence
from typing import Any

from isogrid.backends.cuda import layout
from isogrid.backends.cuda.loader import Loaded
from isogrid.backends.cuda.machine import Machine, keeps_context
from isogrid.backends.cuda.queue import Prepared, Queue
from isogrid.backends.cuda.traps import trap_of
from isogrid.backends.cuda.watches import counts_of
from isogrid.ir import kernel as k
from isogrid.runtimes.memory import Block
from isogrid.runtimes.protocol import BoundLaunch
from isogrid.traps import Trap


class GuardedLaunch:
    """Queues them behind what they wait for, with snapshots and restore where they need any. All arrays are ours."""

    def __init__(self, queue: Queue, head: k.Kernel, loaded: Loaded, names: Sequence[str]) -> None:
        self.queue = queue
        self.head = head
        self.loaded = loaded
        slots = loaded.variant.module.layout.slots
        self.words = (ctypes.c_uint64 * len(slots))()
        start = ctypes.addressof(self.words)
        self.pointers = (ctypes.c_void_p * len(slots))(*(start + 8 * number for number in range(len(slots))))
        self.packed = ctypes.addressof(self.pointers)
        self.extents = [number for number, slot in enumerate(slots) if slot.kind == "extent"]
        writes = {p.name: p.access.writes for p in head.parameters if isinstance(p, k.ArrayParameter)}
        self.places = {name: number for number, name in enumerate(names) if name in writes}
        self.touched = list(self.places.values())
        self.written = [number for name, number in self.places.items() if writes[name]]

    @property
    def machine(self) -> Machine:
        return self.queue.machine

    @keeps_context
    def __call__(self, address: int, blocks: int, *arguments: Any) -> Any:
        """`address` is where the stub packed the parameters. NotImplemented leaves it to the usual launcher."""
        queue, loaded, words = self.queue, self.loaded, self.words
        with queue.lock:
            touched = [arguments[number].block for number in self.touched]
            stream = queue.order(touched)
            watch = None
            if "watch" in loaded.places:
                watch = self._counts(arguments, stream)
                if watch is None:
                    return NotImplemented
            ctypes.memmove(words, address, ctypes.sizeof(words))
            written, parts = self._written(arguments)
            extents = tuple(words[number] for number in self.extents)
            prepared = queue.prepare(touched, written, stream, loaded.can_trap, self._explain(extents))
            record = self._fill(prepared, watch)
            for part in parts:
                count = blocks if part is loaded else part.blocks(extents)
                module = part.variant.module
                queue.start(part.run, count, module.block, module.dynamic_shared, stream, self.packed)
            if watch is not None:
                queue.call(loaded.settle, 1, layout.SETTLE_THREADS, [record, watch.address], stream)
            if len(parts) == 1:
                queue.finish(prepared)
        return None

    def _written(self, arguments: Sequence[Any]) -> tuple[list[tuple[Block, int, int]], tuple[Loaded, ...]]:
        """What a trap must put back, and what is launched: halves leave nothing to put back."""
        written = [(arguments[n].block, arguments[n].address, arguments[n].nbytes) for n in self.written]
        if not self.loaded.can_trap:
            return written, (self.loaded,)
        saved = sum(size for _, _, size in written)
        parts = self.loaded.parts(saved, lambda name: int(arguments[self.places[name]].nbytes))
        if len(parts) > 1:
            written = [(block, address, 0) for block, address, _ in written]
        return written, parts

    def _fill(self, prepared: Prepared, watch: Block | None) -> int:
        """The parameters that the queue knows; the address of the record."""
        places, record = self.loaded.places, 0
        self.words[places["guard"]] = prepared.guard
        if self.loaded.can_trap and prepared.status is not None:
            record = self.words[places["record"]] = self.queue.statuses.record(prepared.status.number)
        if watch is not None:
            self.words[places["watch"]] = watch.address
        return record

    def _counts(self, arguments: Sequence[Any], stream: int) -> Block | None:
        watched = self.loaded.variant.module.layout.watched
        sizes = [arguments[self.places[p.name]].size if p.name in watched else 0 for p in self.head.parameters]
        return counts_of(self.queue, self.loaded, sizes, stream)

    def _explain(self, extents: tuple[int, ...]) -> Any:
        def explain(found: list[int]) -> Trap:
            bound = BoundLaunch({}, {}, {}, extents)
            return trap_of(self.head, self.loaded.variant.module.sites, bound, found)

        return explain
