"""Run one group: barrier interval by barrier interval, thread by thread, with every check that belongs to a meeting."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from isogrid.backends.interp.control import Arrival, Meeting, Waiting
from isogrid.backends.interp.failures import ThreadTrap
from isogrid.backends.interp.findings import Divergence
from isogrid.backends.interp.layout import WHO
from isogrid.backends.interp.totals import Totals
from isogrid.builtins.collectives import COLLECTIVES
from isogrid.builtins.meaning import Trapped
from isogrid.builtins.warps import WARP_OPERATIONS
from isogrid.diagnostics.span import Span
from isogrid.ir.traps import TrapSite
from isogrid.support.errors import CompilerBug

Frame: TypeAlias = list[Any]
#: Reference order of traps: group, interval, threads (0) before totals (1); then warp, warp operation and thread, or
#: array and element.
Rank: TypeAlias = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Caught:
    """A trap and its rank; `thread` is the number of the thread that it names, None for a total."""

    rank: Rank
    site: TrapSite
    operands: tuple[Any, ...]
    thread: int | None


class Diverged(Exception):
    """The threads of a group did not meet; carries the finding."""

    def __init__(self, finding: Divergence) -> None:
        super().__init__(finding)
        self.finding = finding


@dataclass(slots=True)
class _Warp:
    """A warp within one interval: its place, its threads, how many meetings it has had, and its last barrier."""

    number: int
    lanes: list[int]
    operation: int = 0
    barriers: int = 0
    done: bool = False


@dataclass(slots=True)
class Group:
    """One group of a launch. Its threads are numbered `number * len(frames) + lid` in reference order.

    `order` gives the places in a list in the order in which they run next; `next_interval` a number that no other
    interval of the launch has. `warp` is the width where threads of a warp meet somewhere, else 0: then every thread
    runs to the barrier in turn. `shuffled` lets warps take turns between their meetings.
    """

    number: int
    threads: Sequence[Waiting]
    frames: Sequence[Frame]
    totals: Sequence[Totals]
    order: Callable[[list[int]], Sequence[int]]
    next_interval: Callable[[], int]
    warp: int = 0
    shuffled: bool = False
    interval: int = 0
    _results: dict[int, Any] = field(default_factory=dict[int, Any])

    def run(self) -> list[Caught]:
        """Run to the end, or to the meeting at which the group leaves because of a trap. Raises `Diverged`."""
        live = list(range(len(self.frames)))
        while True:
            arrivals, caught = self._run_interval(live)
            if not caught and arrivals:
                caught = self._meet(live, arrivals)
            caught += self._settle(at_end=not arrivals)
            if caught or not arrivals:
                return caught
            self.interval += 1

    def _run_interval(self, live: list[int]) -> tuple[dict[int, Arrival], list[Caught]]:
        """Run every live thread to its next meeting with the whole group, its end or its trap."""
        stamp = self.next_interval()
        if not self.warp:
            return self._run_threads(live, stamp, 0, 0, 0)
        arrivals: dict[int, Arrival] = {}
        caught: list[Caught] = []
        unfinished: list[_Warp] = []
        for first in range(0, len(live), self.warp):
            unfinished.append(_Warp(first // self.warp, live[first : first + self.warp]))
        while unfinished:
            for place in self.order(list(range(len(unfinished)))):
                warp = unfinished[place]
                while not warp.done:
                    self._step(warp, stamp, arrivals, caught)
                    if self.shuffled:
                        break
            unfinished = [warp for warp in unfinished if not warp.done]
        return arrivals, caught

    def _run_threads(
        self, live: list[int], stamp: int, warp: int, operation: int, warp_stamp: int
    ) -> tuple[dict[int, Arrival], list[Caught]]:
        """Run threads to whatever they wait at next."""
        first, group = self._thread(0), self.number
        frames, threads, results = self.frames, self.threads, self._results
        arrivals: dict[int, Arrival] = {}
        caught: list[Caught] = []
        for lid in self.order(live):
            frames[lid][WHO] = (first + lid, group, stamp, warp, warp_stamp)
            try:
                arrivals[lid] = threads[lid].send(results.pop(lid, None))
            except StopIteration:
                pass
            except ThreadTrap as trap:
                rank = (group, self.interval, 0, warp, operation, first + lid)
                caught.append(Caught(rank, trap.site, trap.operands, first + lid))
        return arrivals, caught

    def _thread(self, lid: int) -> int:
        return self.number * len(self.frames) + lid

    # --- warps ------------------------------------------------------------------------------------------------------

    def _step(self, warp: "_Warp", stamp: int, arrivals: dict[int, Arrival], caught: list[Caught]) -> None:
        """Run one warp to its next meeting. It is done for this interval at one of the whole group, at its end, or at a
        trap: the group leaves there."""
        arrived, trapped = self._run_threads(warp.lanes, stamp, warp.number, warp.operation, warp.barriers)
        waits_here = [lid for lid, (meeting, _, _) in arrived.items() if meeting.of_warp]
        if not waits_here:
            arrivals.update(arrived)
            caught += trapped
            warp.done = True
            return
        if trapped:
            caught += trapped
            warp.done = True
            return
        met = [arrived[lid] for lid in warp.lanes if lid in arrived]
        meeting, trips, _ = met[0]
        if len(met) < len(warp.lanes) or any(m is not meeting or t != trips for m, t, _ in met):
            raise Diverged(self._divergence(warp.lanes, arrived, "warp"))
        if meeting.op:
            trapped = self._combine_warp(warp, meeting, [value for _, _, value in met])
            caught += trapped
            warp.done = bool(trapped)
        else:
            warp.barriers = self.next_interval()
        warp.operation += 1

    def _combine_warp(self, warp: "_Warp", meeting: Meeting, given: list[tuple[Any, int]]) -> list[Caught]:
        values, lanes = [value for value, _ in given], [lane for _, lane in given]
        try:
            results = WARP_OPERATIONS[meeting.op].meaning(meeting.type, values, lanes, meeting.exclusive)
        except Trapped as trapped:
            lid = warp.lanes[int(trapped.operands[0])]
        else:
            self._results.update(zip(warp.lanes, results, strict=True))
            return []
        if meeting.site is None:
            raise CompilerBug(f"the total of warp_{meeting.op} at {meeting.span} was proved to fit, and does not")
        thread = self._thread(lid)
        rank = (self.number, self.interval, 0, warp.number, warp.operation, thread)
        return [Caught(rank, meeting.site, (), thread)]

    # --- the whole group --------------------------------------------------------------------------------------------

    def _meet(self, live: list[int], arrivals: dict[int, Arrival]) -> list[Caught]:
        """Check that all threads met in one place; combine a group operation, whose trap ends this interval."""
        self._results = {}
        met = [arrivals[lid] for lid in live if lid in arrivals]
        meeting, trips, _ = met[0]
        if len(met) < len(live) or any(m is not meeting or t != trips for m, t, _ in met):
            raise Diverged(self._divergence(live, arrivals, "group"))
        return self._combine(meeting, [value for _, _, value in met]) if meeting.op else []

    def _divergence(self, live: list[int], arrivals: dict[int, Arrival], unit: str) -> Divergence:
        places: dict[tuple[int, tuple[int, ...]], tuple[int, Span]] = {}
        for lid, (meeting, trips, _) in sorted(arrivals.items(), key=lambda item: item[0]):
            places.setdefault((id(meeting), trips), (self._thread(lid), meeting.span))
        ended = next((self._thread(lid) for lid in live if lid not in arrivals), None)
        return Divergence(self.number, tuple(places.values()), ended, unit)

    def _combine(self, meeting: Meeting, values: list[Any]) -> list[Caught]:
        try:
            results = COLLECTIVES[meeting.op].meaning(meeting.type, values, meeting.exclusive)
        except Trapped as trapped:
            lid = int(trapped.operands[0])
        else:
            self._results = dict(enumerate(results))
            return []
        if meeting.site is None:
            raise CompilerBug(f"the total of group_{meeting.op} at {meeting.span} was proved to fit, and does not")
        thread = self._thread(lid)
        # The operation ends the interval: all that threads did before it comes first.
        rank = (self.number, self.interval, 0, float("inf"), 0, thread)
        return [Caught(rank, meeting.site, (), thread)]

    def _settle(self, at_end: bool) -> list[Caught]:
        """The totals that are known to have left their type by now."""
        found: list[Caught] = []
        for totals in self.totals:
            if at_end and not totals.shared:
                lost = totals.settled()
            else:
                lost = totals.at_barrier(self.number, self.interval)
            for group, interval, element in lost:
                found.append(Caught((group, interval, 1, totals.order, element), totals.site, (element,), None))
        return found
