"""Launch a program: reference order or a shuffled one, the first trap, findings, and arrays changed only on success."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, product
from typing import Any, TypeAlias

from isogrid.backends.interp import memory
from isogrid.backends.interp.control import Waiting
from isogrid.backends.interp.failures import ThreadTrap
from isogrid.backends.interp.findings import Finding
from isogrid.backends.interp.groups import Caught, Diverged, Group
from isogrid.backends.interp.layout import WHO, ArrayFacts
from isogrid.backends.interp.program import Program, compile_program
from isogrid.backends.interp.races import RaceLog, Shadow, WarpShadow
from isogrid.backends.interp.totals import Totals
from isogrid.builtins.meaning import quiet
from isogrid.builtins.queries import linear, place
from isogrid.ir import kernel as k
from isogrid.ir.traps import TrapKind
from isogrid.ir.types import INDEX, Space
from isogrid.runtimes.protocol import BoundLaunch
from isogrid.support.errors import CompilerBug
from isogrid.traps import Trap, trap_exception

Frame: TypeAlias = list[Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a launch went. Arrays hold its result if there is no trap and no finding; else they are as before."""

    trap: Trap | None = None
    findings: tuple[Finding, ...] = ()


def run(kernel: k.Kernel, bound: BoundLaunch, *, order: int | None = None, detect_races: bool = True) -> Outcome:
    """Compile and launch a kernel. `order` seeds a shuffle of threads within intervals, and of groups."""
    return run_program(compile_program(kernel, detect_races), bound, order=order)


def run_program(program: Program, bound: BoundLaunch, *, order: int | None = None) -> Outcome:
    """Launch a compiled program. The trap, if any, is the first in reference order, whatever the order of running."""
    launch = _Launch(program, bound, None if order is None else random.Random(order))
    diverged: tuple[Finding, ...] = ()
    caught: list[Caught] = []
    with quiet():
        try:
            caught = launch.grouped() if program.kernel.grouped else launch.ungrouped()
        except Diverged as found:
            diverged = (found.finding,)
    findings = (*diverged, *launch.log.races)
    if diverged:
        return Outcome(findings=findings)
    if not caught:
        caught = launch.totals_at_end()
    if caught:
        first = min(caught, key=lambda trap: trap.rank)
        thread = None if first.thread is None else launch.coordinates(first.thread)
        site, operands = first.site, first.operands
        if site.kind is TrapKind.RACE:
            element, other = operands
            operands = (element, *launch.coordinates(other))
            site = replace(site, operands=(INDEX,) * len(operands))
        return Outcome(trap_exception(site, program.kernel.name, thread, operands), findings)
    if not findings:
        launch.write_back()
    return Outcome(findings=findings)


@dataclass(slots=True)
class _Launch:
    """The state of one launch: a frame to copy for each thread, and what outlives threads."""

    program: Program
    bound: BoundLaunch
    shuffle: random.Random | None
    log: RaceLog = field(init=False)
    template: Frame = field(default_factory=list[Any])
    totals: list[Totals] = field(default_factory=list[Totals])

    def __post_init__(self) -> None:
        kernel, layout = self.program.kernel, self.program.layout
        self.log = RaceLog(traps=kernel.races == "check")
        self.template = [None] * layout.size
        for (what, name), at in layout.places.items():
            if what == "scalar":
                self.template[at] = self.bound.scalars[name]
            elif what == "dim":
                self.template[at] = self.bound.dims[name]
        arrays = {p.name: order for order, p in enumerate(kernel.parameters) if isinstance(p, k.ArrayParameter)}
        for name, order in arrays.items():
            self._bind_array(name)
            self._attach(self.template, layout.arrays[name], order, self.totals)
        for table in kernel.tables:
            self._set(self.template, "memory", table.name, memory.from_bytes(table.element, table.data))
        for kind, axis, at in layout.queries:
            self.template[at] = self._launch_query(kind, axis)

    def _set(self, frame: Frame, what: str, name: str, value: Any) -> None:
        """Put a value into the frame place of a name, where the program uses it."""
        at = self.program.layout.places.get((what, name))
        if at is not None:
            frame[at] = value

    def _bind_array(self, name: str) -> None:
        array = self.bound.arrays[name]
        extents = [int(extent(self.template)) for extent in self.program.extents[name]]
        if memory.element_count(tuple(extents)) != array.size:
            raise CompilerBug(f"`{name}` was bound with shape {array.shape} where the kernel expects {extents}")
        for axis, extent in enumerate(extents):
            self._set(self.template, "extent", f"{name}.{axis}", extent)
        self._set(self.template, "memory", name, memory.from_array(array))

    def _attach(self, frame: Frame, facts: ArrayFacts, order: int, totals: list[Totals]) -> None:
        """Give an array its race shadow and its totals, where it needs them."""
        layout = self.program.layout
        if self.program.races and facts.may_race:
            deterministic = self.program.kernel.deterministic
            make = WarpShadow if self.program.warps else Shadow
            self._set(frame, "shadow", facts.name, make(facts.name, facts.kinds, self.log, deterministic))
        site = layout.total_sites.get(facts.name)
        if site is not None:
            proved = facts.name in layout.proved_totals
            totals.append(Totals(facts.name, order, site, facts.space is Space.SHARED, proved))
            self._set(frame, "totals", facts.name, totals[-1])

    def _launch_query(self, kind: str, axis: int | None) -> int | None:
        """The value of a query that is the same for the whole launch; None for the others."""
        geometry = self.program.kernel.geometry
        match kind:
            case "group_size":
                extents = geometry.block
            case "num_groups":
                extents = self.bound.groups(geometry)
            case "grid_size":
                extents = self.threads
            case _:
                return None
        return memory.element_count(tuple(extents)) if axis is None else extents[axis]

    @property
    def threads(self) -> tuple[int, ...]:
        return self.bound.threads(self.program.kernel.geometry, self.program.kernel.grouped)

    def ungrouped(self) -> list[Caught]:
        """Run the grid by linear gid. One frame serves all threads: a local is assigned before it is read."""
        body, frame = self.program.body, self.template
        if body is None:
            raise CompilerBug("a kernel without groups has a barrier")
        caught: list[Caught] = []
        places = [(axis, at) for kind, axis, at in self.program.layout.queries if kind == "gid"]
        for thread, coordinates in self._threads_in_order():
            for axis, at in places:
                frame[at] = thread if axis is None else coordinates[axis]
            frame[WHO] = (thread, thread, thread, 0, 0)
            try:
                body(frame)
            except ThreadTrap as trap:
                caught.append(Caught((thread, 0, 0, 0, 0, thread), trap.site, trap.operands, thread))
                if self.shuffle is None:
                    break
        return caught

    def _threads_in_order(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        threads = self.threads
        if self.shuffle is None:
            yield from enumerate(product(*(range(extent) for extent in threads)))
        else:
            for thread in self._shuffled(list(range(memory.element_count(threads)))):
                yield thread, place(thread, threads)

    def _shuffled(self, items: list[int]) -> Sequence[int]:
        if self.shuffle is not None:
            self.shuffle.shuffle(items)
        return items

    def grouped(self) -> list[Caught]:
        """Run group by group. In reference order nothing after the first group with a trap can come before it."""
        geometry = self.program.kernel.geometry
        intervals = count()
        caught: list[Caught] = []
        frames = [self._thread_frame(lid, place(lid, geometry.block)) for lid in range(geometry.group_size)]
        groups = self.bound.groups(geometry)
        for number in self._shuffled(list(range(memory.element_count(groups)))):
            caught += self._group(number, place(number, groups), frames, intervals.__next__).run()
            if caught and self.shuffle is None:
                break
        return caught

    def _thread_frame(self, lid: int, at: tuple[int, ...]) -> Frame:
        """The frame of a place in every group, with its queries about that place."""
        frame, width = self.template.copy(), self.program.kernel.warp
        for kind, axis, slot in self.program.layout.queries:
            if kind == "lid":
                frame[slot] = lid if axis is None else at[axis]
            elif kind in ("lane_id", "warp_id"):
                frame[slot] = lid % width if kind == "lane_id" else lid // width
        return frame

    def _group(
        self, number: int, group: tuple[int, ...], places: Sequence[Frame], next_interval: Callable[[], int]
    ) -> Group:
        """One group, ready to run: new shared memory, and a copy of each place's frame."""
        kernel, layout = self.program.kernel, self.program.layout
        base = self.template.copy()
        totals = list(self.totals)
        for order, shared in enumerate(kernel.shared, start=len(kernel.parameters)):
            start = memory.zero(shared.element) if shared.zeroed else None
            self._set(base, "memory", shared.name, [start] * memory.element_count(shared.shape))
            self._attach(base, layout.arrays[shared.name], order, totals)
        for kind, axis, slot in layout.queries:
            if kind == "group_id":
                base[slot] = number if axis is None else group[axis]
        changed = [(slot, value) for slot, value in enumerate(base) if value is not self.template[slot]]
        frames = [frame.copy() for frame in places]
        for frame in frames:
            for slot, value in changed:
                frame[slot] = value
        self._set_gids(frames, group)
        threads = [self._start(frame) for frame in frames]
        warp = kernel.warp if self.program.warps else 0
        shuffled = self.shuffle is not None
        return Group(
            number, threads, frames, totals, lambda live: self._shuffled(list(live)), next_interval, warp, shuffled
        )

    def _set_gids(self, frames: Sequence[Frame], group: tuple[int, ...]) -> None:
        block = self.program.kernel.geometry.block
        for kind, axis, slot in self.program.layout.queries:
            if kind == "gid":
                for lid, frame in enumerate(frames):
                    gids = [g * b + at for g, b, at in zip(group, block, place(lid, block), strict=True)]
                    frame[slot] = linear(gids, self.threads) if axis is None else gids[axis]

    def _start(self, frame: Frame) -> Waiting:
        if self.program.meeting is not None:
            return self.program.meeting(frame)
        return _without_meeting(self.program, frame)

    def coordinates(self, thread: int) -> tuple[int, ...]:
        """The gid along each axis of a thread by its number in reference order."""
        kernel = self.program.kernel
        if not kernel.grouped:
            return place(thread, self.threads)
        number, lid = divmod(thread, kernel.geometry.group_size)
        group = place(number, self.bound.groups(kernel.geometry))
        at = place(lid, kernel.geometry.block)
        return tuple(g * b + a for g, b, a in zip(group, kernel.geometry.block, at, strict=True))

    def totals_at_end(self) -> list[Caught]:
        """The totals that have left their type when the launch ends."""
        return [
            Caught((float("inf"), 0, 1, totals.order, element), totals.site, (element,), None)
            for totals in self.totals
            for element in totals.counts
        ]

    def write_back(self) -> None:
        """Set the arrays that the kernel may write to what it left in them."""
        for parameter in self.program.kernel.parameters:
            if isinstance(parameter, k.ArrayParameter) and parameter.access.writes:
                at = self.program.layout.places["memory", parameter.name]
                memory.write_back(self.template[at], self.bound.arrays[parameter.name])


def _without_meeting(program: Program, frame: Frame) -> Waiting:
    """A thread of a grouped kernel that has no barrier, in the form of one that has."""
    if program.body is None:
        raise CompilerBug("a program without a body")
    program.body(frame)
    return None
    yield  # a generator that never waits
