"""Run one group: barrier interval by barrier interval, thread by thread, with every check that belongs to a meeting."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from isogrid.backends.interp.failures import ThreadTrap
from isogrid.backends.interp.findings import Divergence
from isogrid.backends.interp.layout import WHO
from isogrid.backends.interp.statements import Arrival, Meeting, Waiting
from isogrid.backends.interp.totals import Totals
from isogrid.builtins.collectives import COLLECTIVES
from isogrid.builtins.meaning import Trapped
from isogrid.diagnostics.span import Span
from isogrid.ir.traps import TrapSite
from isogrid.support.errors import CompilerBug

Frame: TypeAlias = list[Any]
#: Reference order of traps: group, interval, threads (0) before totals (1), thread or array, element.
Rank: TypeAlias = tuple[float, int, int, int, int]


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
class Group:
    """One group of a launch. Its threads are numbered `number * len(frames) + lid` in reference order.

    `order` gives the places in a list in the order in which they run next; `next_interval` a number that no other
    interval of the launch has.
    """

    number: int
    threads: Sequence[Waiting]
    frames: Sequence[Frame]
    totals: Sequence[Totals]
    order: Callable[[list[int]], Sequence[int]]
    next_interval: Callable[[], int]
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
            live = sorted(arrivals)
            self.interval += 1

    def _run_interval(self, live: list[int]) -> tuple[dict[int, Arrival], list[Caught]]:
        """Run every live thread to its next meeting, its end or its trap."""
        stamp = self.next_interval()
        arrivals: dict[int, Arrival] = {}
        caught: list[Caught] = []
        for lid in self.order(live):
            thread = self._thread(lid)
            self.frames[lid][WHO] = (thread, self.number, stamp)
            try:
                arrivals[lid] = self.threads[lid].send(self._results.get(lid))
            except StopIteration:
                pass
            except ThreadTrap as trap:
                caught.append(Caught((self.number, self.interval, 0, thread, 0), trap.site, trap.operands, thread))
        return arrivals, caught

    def _thread(self, lid: int) -> int:
        return self.number * len(self.frames) + lid

    def _meet(self, live: list[int], arrivals: dict[int, Arrival]) -> list[Caught]:
        """Check that all threads met in one place; combine a group operation, whose trap ends this interval."""
        lids = sorted(arrivals)
        first = arrivals[lids[0]]
        ended = [lid for lid in live if lid not in arrivals]
        places: dict[tuple[int, tuple[int, ...]], tuple[int, Span]] = {}
        for lid in lids:
            arrival = arrivals[lid]
            places.setdefault((id(arrival.meeting), arrival.trips), (self._thread(lid), arrival.meeting.span))
        if ended or len(places) > 1 or len(lids) < len(self.frames):
            end = self._thread(ended[0]) if ended else None
            raise Diverged(Divergence(self.number, tuple(places.values()), end))
        self._results = {}
        if not first.meeting.op:
            return []
        return self._combine(first.meeting, [arrivals[lid].value for lid in lids])

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
        return [Caught((self.number, self.interval, 0, thread, 0), meeting.site, (), thread)]

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
