"""The queue of one GPU: launches in stream order, behind each that may trap its restore, and what waits for whom.

    [gate] - [snapshots] - run - [settle] - restore

A launch that may trap has a status (traps.py). Later launches that touch the arrays it writes get its poison word as
their guard: they do nothing once it has trapped. What they would have written waits for the same word, or, where they
may trap themselves, for their own, which `restore` sets for them. The host finds out when it waits.
"""

import ctypes
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from typing import Any, Final

from isogrid.backends.cuda import support
from isogrid.backends.cuda.loader import image_of, target_of
from isogrid.backends.cuda.machine import Machine, keeps_context
from isogrid.backends.cuda.memory import CudaMemory
from isogrid.backends.cuda.profile import DeviceClock
from isogrid.backends.cuda.traps import Statuses
from isogrid.runtimes.memory import Block, Poison
from isogrid.support.locks import new_lock
from isogrid.support.records import dataclass
from isogrid.traps import Trap

#: Blocks of a `restore`: enough for the memory's speed where it has to copy, few enough to cost nothing where not.
_RESTORE_BLOCKS: Final = 264
#: Bytes that one more block is for.
_BYTES_A_BLOCK: Final = 1 << 15
#: Launches that are looked through for what they wait for.
_MOST_ASKED: Final = 32
#: The handle of the legacy default stream, which orders itself with the streams of other libraries.
DEFAULT_STREAM: Final = 0


class QueuedLaunch(Poison):
    """A launch with a status. `explain` makes its trap from the mirrored words, once it is known."""

    __slots__ = ("explain", "number", "roots")

    def __init__(self, number: int, roots: tuple[Poison, ...], explain: Any) -> None:
        super().__init__()
        self.number = number
        self.roots = roots
        self.explain = explain

    def first_trap(self) -> "QueuedLaunch | None":
        """The launch whose trap stands behind this one's: itself, or the first that it waits for."""
        if self.trap is not None:
            return self if self.live else None
        for root in self.roots:
            found = root.first_trap() if isinstance(root, QueuedLaunch) else None
            if found is not None:
                return found
        return None


def _outermost(poisons: tuple[Poison, ...]) -> tuple[Poison, ...]:
    """Those that no other of them waits for: whoever waits for a launch is told too of what that one waited for."""
    if len(poisons) < 2:
        return poisons
    outer, seen = set(poisons), set[Poison]()
    reached = list(reversed(poisons))
    for launch in reached:
        for root in launch.roots if isinstance(launch, QueuedLaunch) else ():
            if root in seen:
                continue
            seen.add(root)
            outer.discard(root)
            if len(reached) < _MOST_ASKED:
                reached.append(root)
        if len(outer) == 1:
            break
    return tuple(poison for poison in poisons if poison in outer)


@dataclass(slots=True)
class Saved:
    """What a trap must put back: the bytes of a written array and the block that holds the copy of them."""

    target: int
    copy: Block
    size: int


@dataclass(slots=True)
class Support:
    """The runtime's own kernels in the context of the device."""

    restore: int
    gate: int


@dataclass(slots=True)
class Prepared:
    """A launch as the queue takes it. `status` is that of a launch that has one."""

    stream: int
    guard: int = 0
    can_trap: bool = False
    status: QueuedLaunch | None = None
    saved: list[Saved] = field(default_factory=list[Saved])


class Queue:
    """Everything queued on one device. Its lock orders the launches of different threads."""

    def __init__(self, machine: Machine, number: int, memory: CudaMemory) -> None:
        self.machine = machine
        self.number = number
        self.memory = memory
        self.driver = machine.driver
        self.lock = new_lock()
        self.pending: list[QueuedLaunch] = []
        self.stream = DEFAULT_STREAM
        #: Not zero while a launch must look around: traps may be pending, other streams be in use, or it is recorded.
        self.busy = ctypes.c_int64(0)
        #: The same for launches that look after traps and streams themselves.
        self.watched = ctypes.c_int64(0)
        #: Streams of `ig.Stream`; those of other libraries may be destroyed at any time.
        self.own_streams: set[int] = set()
        self._other_streams = False
        #: Owners of foreign memory that is still in use, with the events that end it.
        self._outlived: list[tuple[int, object]] = []
        #: Times launches and transfers on the device while a profile is open.
        self.clock: DeviceClock | None = None
        #: The parameters of a `restore`, and pointers to them.
        self._report = (ctypes.c_uint64 * (4 + 3 * support.RESTORED))()
        at = ctypes.addressof(self._report)
        self._report_pointers = (ctypes.c_void_p * len(self._report))(*(at + 8 * n for n in range(len(self._report))))
        self._statuses: Statuses | None = None
        self._support: Support | None = None

    @property
    def statuses(self) -> Statuses:
        if self._statuses is None:
            self._statuses = Statuses(self.driver)
        return self._statuses

    # --- order between streams ---------------------------------------------------------------------------------------

    def order(self, blocks: Sequence[Block], stream: int | None = None) -> int:
        """The stream for work on these blocks; it waits for what other streams do with them."""
        self.machine.enter(self.number)
        chosen = self.stream if stream is None else stream
        if chosen == DEFAULT_STREAM and all(block.stream == DEFAULT_STREAM for block in blocks):
            return chosen
        if chosen != DEFAULT_STREAM and not self._other_streams and not all(block.foreign for block in blocks):
            self._other_streams = True
            self.look_busy()
        for block in blocks:
            if block.stream not in self.own_streams:
                block.stream = DEFAULT_STREAM
        for other in {block.stream for block in blocks if block.stream != chosen and not block.foreign}:
            self.wait_for(chosen, other)
        for block in blocks:
            block.stream = chosen
        return chosen

    def mark(self, blocks: Sequence[Block]) -> int:
        """An event behind what is queued on these blocks, in the context of this device, which is the thread's then."""
        stream = self.order(blocks)
        event = self.driver.create_event()
        self.driver.record_event(event, stream)
        return event

    @keeps_context
    def mark_stream(self, stream: int) -> int:
        """An event with a time behind what is queued in a stream."""
        self.machine.enter(self.number)
        event = self.driver.create_event(True)
        self.driver.record_event(event, stream)
        return event

    def outlive(self, block: Block) -> None:
        """Keep the owner of a foreign block until what is queued on it is done."""
        self.machine.enter(self.number)
        self._outlived = [(event, owner) for event, owner in self._outlived if not self._reached(event)]
        event = self.driver.create_event()
        self.driver.record_event(event, block.stream if block.stream in self.own_streams else DEFAULT_STREAM)
        self._outlived.append((event, block.owner))

    def _reached(self, event: int) -> bool:
        done = self.driver.event_is_done(event)
        if done:
            self.driver.destroy_event(event)
        return done

    def look_busy(self) -> None:
        """Tell native launches whether anything is going on."""
        self.busy.value = len(self.pending) + self._other_streams + self.watched.value

    def watch(self, watched: bool) -> None:
        """Whether somebody records or times the launches."""
        self.watched.value = watched
        self.look_busy()

    def timed(self, kind: str, name: str, stream: int, size: int = 0) -> AbstractContextManager[None]:
        """The time on the device of what a block queues, for the profile that is open."""
        return nullcontext() if self.clock is None else self.clock.span(kind, name, stream, size)

    def wait_for(self, stream: int, other: int) -> None:
        """Let `stream` wait for what is queued in `other` now."""
        event = self.driver.create_event()
        self.driver.record_event(event, other)
        self.driver.wait_event(stream, event)
        self.driver.destroy_event(event)  # the driver keeps it until it has happened

    @keeps_context
    def new_stream(self) -> int:
        """A stream of ours."""
        self.machine.enter(self.number)
        stream = self.driver.create_stream()
        self.own_streams.add(stream)
        return stream

    @keeps_context
    def drop_stream(self, stream: int) -> None:
        """Nobody queues into the stream any more: the default stream waits for what is left, and stands for it."""
        self.machine.enter(self.number)
        self.wait_for(DEFAULT_STREAM, stream)
        self.own_streams.discard(stream)
        self.driver.destroy_stream(stream)

    def adopt_order(self, blocks: Sequence[Block], stream: int) -> None:
        """Our blocks were used in a stream that another library may destroy: the default stream takes over."""
        ours = [block for block in blocks if not block.foreign]
        if ours:
            self.wait_for(DEFAULT_STREAM, stream)
        for block in ours:
            block.stream = DEFAULT_STREAM

    @keeps_context
    def share(self, block: Block, stream: Any) -> None:
        """Order another library's stream behind what is queued on the block, and raise the block's traps.

        1 is the legacy default stream, 2 the per-thread one; None says nothing, and -1 asks for no order at all.
        """
        self.access(block)
        if stream == -1:
            return
        wanted = DEFAULT_STREAM if stream in (None, 0, 1) else int(stream)
        used = block.stream if block.stream in self.own_streams else DEFAULT_STREAM
        if wanted != used:
            self.machine.enter(self.number)
            self.wait_for(wanted, used)

    # --- before and behind a launch ----------------------------------------------------------------------------------

    def prepare(
        self,
        touched: Sequence[Block],
        written: Sequence[tuple[Block, int, int]],
        stream: int,
        can_trap: bool,
        explain: Any,
    ) -> Prepared:
        """Guard, status and snapshots. `written` lists block, address and bytes of each array that a trap must put
        back."""
        poisons = tuple(dict.fromkeys(poison for block in touched for poison in block.live_poisons()))
        poisons = _outermost(poisons)
        prepared = Prepared(stream, can_trap=can_trap)
        if can_trap or len(poisons) > 1:
            self._make_room()
            poisons = tuple(poison for poison in poisons if poison.live)
            prepared.status = QueuedLaunch(self.statuses.take(), poisons, explain)
            self.pending.append(prepared.status)
            self.look_busy()
        if len(poisons) == 1:
            prepared.guard = self._word(poisons[0])
        elif poisons and prepared.status is not None:
            prepared.guard = self._gate(prepared.status, poisons, stream)
        if can_trap:
            prepared.saved = [self._save(block, address, size, stream) for block, address, size in written if size]
        poison = (prepared.status,) if prepared.status is not None else poisons
        for block, _, _ in written:
            block.poisons = poison
        return prepared

    def finish(self, prepared: Prepared) -> None:
        """The restore behind a launch that may trap; the writing half of a kernel reports by itself."""
        status = prepared.status
        if status is None or not prepared.can_trap:
            return
        words, saved = self.statuses, prepared.saved
        own = words.poison(status.number)
        guard = prepared.guard if prepared.guard != own else 0
        head = (words.record(status.number), own, words.mirror(status.number), guard)
        packed = ctypes.addressof(self._report_pointers)
        # What the driver is given it has read when the call returns, so the same words serve every launch.
        report = self._report
        report[0:4] = head
        for start in range(0, len(saved) or 1, support.RESTORED):
            pieces = saved[start : start + support.RESTORED]
            at = 4
            for piece in pieces:
                report[at], report[at + 1], report[at + 2] = piece.target, piece.copy.address, piece.size
                at += 3
            for rest in range(at + 2, len(report), 3):
                report[rest] = 0
            blocks = min(_RESTORE_BLOCKS, 1 + sum(piece.size for piece in pieces) // _BYTES_A_BLOCK)
            self.start(self.support.restore, blocks, support.RESTORE_THREADS, 0, prepared.stream, packed)

    def call(
        self,
        function: int,
        blocks: int,
        threads: int,
        words: Sequence[int],
        stream: int,
        shared: int = 0,
        *,
        early: bool = False,
    ) -> None:
        """Queue a kernel whose parameters are the low bytes of these words. `early`: it waits by itself for what is in
        front of it, and may start before that ends."""
        slots = (ctypes.c_uint64 * len(words))(*(word & (1 << 64) - 1 for word in words))
        start = ctypes.addressof(slots)
        pointers = (ctypes.c_void_p * len(words))(*(start + 8 * n for n in range(len(words))))
        self.driver.launch(function, blocks, threads, shared, stream, ctypes.addressof(pointers), early)

    def start(self, function: int, blocks: int, threads: int, shared: int, stream: int, packed: int) -> None:
        """Queue a kernel of which the parameters are packed: `packed` is the address of pointers to them."""
        self.driver.launch(function, blocks, threads, shared, stream, packed, False)

    @property
    def support(self) -> Support:
        if self._support is None:
            target = target_of(self.machine, self.number, {})
            module = self.driver.load(image_of(support.support_text(target), 0, target, self.machine))
            self._support = Support(self.driver.function(module, "restore"), self.driver.function(module, "gate"))
        return self._support

    def _word(self, poison: Poison) -> int:
        if not isinstance(poison, QueuedLaunch):
            raise TypeError("a poison of another device")
        return self.statuses.poison(poison.number)

    def _gate(self, status: QueuedLaunch, poisons: Sequence[Poison], stream: int) -> int:
        own = self.statuses.poison(status.number)
        for start in range(0, len(poisons), support.WAITED):
            words = [self._word(poison) for poison in poisons[start : start + support.WAITED]]
            words += [0] * (support.WAITED - len(words))
            self.call(self.support.gate, 1, 1, [own, *words], stream)
        return own

    def _save(self, block: Block, address: int, size: int, stream: int) -> Saved:
        copy = self.memory.take_inside(size)
        if stream != DEFAULT_STREAM or copy.stream != DEFAULT_STREAM:
            self.order([copy], stream)
        self.driver.copy_within(copy.address, address, size, stream)
        return Saved(address, copy, size)

    def _make_room(self) -> None:
        if self.statuses.room == 0:
            self.collect()
        if self.statuses.room == 0:
            raise MemoryError("more than 1000 launches have trapped and none of their traps was raised")

    # --- waiting -----------------------------------------------------------------------------------------------------

    @keeps_context
    def settle(self) -> None:
        """Wait for everything queued and raise the first trap that has not been raised."""
        with self.lock:
            if not self.pending:
                return
            self.collect()
            for launch in self.pending:
                if launch.trap is not None:
                    self._raise(launch)

    @keeps_context
    def wait(self) -> None:
        """Wait for everything queued, then raise as `settle` does."""
        with self.lock:
            self.collect()
            self.settle()

    @keeps_context
    def access(self, block: Block) -> None:
        """The host is about to touch the block: raise the first trap that stands behind its contents."""
        if not block.live_poisons():
            return
        with self.lock:
            self.collect()
            for poison in block.live_poisons():
                found = poison.first_trap() if isinstance(poison, QueuedLaunch) else None
                if found is not None:
                    self._raise(found)

    @keeps_context
    def outcome(self, status: QueuedLaunch) -> Trap | None:
        """Wait for one launch; its trap, which then counts as raised. Launches it waited for may have trapped too."""
        with self.lock:
            self.collect()
            trap = status.trap if status.live else None
            if trap is not None:
                self._drop(status)
            return trap

    def collect(self) -> None:
        """Wait, and learn of every launch whether it trapped."""
        self.machine.enter(self.number)
        self.driver.synchronise()
        self._other_streams = False
        kept, trapped = list[QueuedLaunch](), self.statuses.trapped() if self.pending else []
        for launch in self.pending:
            if launch.trap is None and trapped[launch.number]:
                launch.trap = launch.explain(self.statuses.words(launch.number))
                launch.explain = None
            if launch.trap is not None or any(root.live for root in launch.roots):
                kept.append(launch)
            else:  # its roots come before it, so their fate is known
                launch.clear()
                launch.roots = ()
                self.statuses.give_back(launch.number, dirty=False)
        self.pending = kept
        self.look_busy()

    def _forget_skipped(self) -> None:
        """Launches that were skipped, and whose reasons have all been raised."""
        for launch in list(self.pending):
            if launch.trap is None and not any(root.live for root in launch.roots):
                self._forget(launch, dirty=True)

    def _raise(self, launch: QueuedLaunch) -> None:
        trap = launch.trap
        self._drop(launch)
        if trap is not None:
            raise trap.with_traceback(None)

    def _drop(self, launch: QueuedLaunch) -> None:
        self._forget(launch, dirty=True)
        self._forget_skipped()

    def _forget(self, launch: QueuedLaunch, dirty: bool) -> None:
        launch.clear()
        launch.roots = ()
        self.pending.remove(launch)
        self.look_busy()
        self.statuses.give_back(launch.number, dirty)
