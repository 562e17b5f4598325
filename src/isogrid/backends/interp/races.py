"""Find data races while threads run one after another: per element, who touched it how, and what orders them.

Two accesses conflict when their threads differ, one of them writes, they are not the same atomic operation (not both
atomic, in a kernel that is not deterministic), and no barrier of their group lies between them; groups are never
ordered. Groups run in turn, so what an element must remember of one kind of access is small and loses nothing: the
first access ever (it is from another group if any is), and in the present barrier interval two accesses by different
threads (one of them differs from any third thread). In a kernel without groups each thread counts as a group.
"""

from typing import Any

from isogrid.backends.interp.failures import ThreadTrap
from isogrid.backends.interp.findings import Race, Touch
from isogrid.diagnostics.span import Span
from isogrid.ir.traps import TrapKind, TrapSite
from isogrid.ir.types import INDEX

#: group, thread and span of the first access; interval, and two accesses in it by different threads.
_Record = list[Any]
_READ = "read"
_WRITE = "write"


class RaceLog:
    """The races of one launch: one for each pair of places in the text, with the first element that shows it.

    With `traps` a race ends its second thread instead: `races="check"`.
    """

    def __init__(self, traps: bool = False) -> None:
        self._traps = traps
        self._found: dict[tuple[str, str, Span, str, Span], Race] = {}

    @property
    def races(self) -> tuple[Race, ...]:
        return tuple(self._found.values())

    def add(self, race: Race) -> None:
        one, two = race.first, race.second
        if self._traps:
            site = TrapSite(TrapKind.RACE, two.span, race.array, f"{one.kind} {two.kind} {one.span}", (INDEX, INDEX))
            raise ThreadTrap(site, (race.element, one.thread))
        self._found.setdefault((race.array, one.kind, one.span, two.kind, two.span), race)


class Shadow:
    """The accesses to one array. `kinds` are those that the kernel's text makes."""

    __slots__ = ("_array", "_conflicts", "_log", "_records")

    def __init__(self, array: str, kinds: tuple[str, ...], log: RaceLog, deterministic: bool = True) -> None:
        self._array = array
        self._log = log
        self._records: dict[str, dict[int, _Record]] = {kind: {} for kind in kinds}
        self._conflicts = {
            kind: [(other, self._records[other]) for other in kinds if _conflict(kind, other, deterministic)]
            for kind in kinds
        }

    def touch(self, element: int, kind: str, span: Span, who: tuple[int, int, int, int, int]) -> None:
        """Note an access by `who` (thread, group, interval, warp, warp interval) and log the races that it makes."""
        thread, group, interval, _, _ = who
        for other, records in self._conflicts[kind]:
            record = records.get(element)
            if record is None:
                continue
            if record[0] != group:
                self._report(element, other, record[1], record[2], thread, kind, span)
            elif record[3] == interval:
                if record[4] != thread:
                    self._report(element, other, record[4], record[5], thread, kind, span)
                elif record[6] is not None:
                    self._report(element, other, record[6], record[7], thread, kind, span)
        own = self._records[kind]
        record = own.get(element)
        if record is None:
            own[element] = [group, thread, span, interval, thread, span, None, None]
        elif record[3] != interval:
            record[3:] = (interval, thread, span, None, None)
        elif record[6] is None and record[4] != thread:
            record[6:] = (thread, span)

    def _report(
        self, element: int, first: str, first_thread: int, first_span: Span, thread: int, kind: str, span: Span
    ) -> None:
        touches = Touch(first_thread, first, first_span), Touch(thread, kind, span)
        self._log.add(Race(self._array, element, *touches))


class WarpShadow:
    """The accesses to one array of a kernel whose warps have barriers of their own.

    Threads of one warp are ordered by its barriers too. Per element and kind of access it is enough to remember the
    first access ever, for other groups, and of each warp in the present interval two accesses by different threads in
    its last warp interval: for another warp any one of them will do.
    """

    __slots__ = ("_array", "_conflicts", "_first", "_log", "_recent")

    def __init__(self, array: str, kinds: tuple[str, ...], log: RaceLog, deterministic: bool = True) -> None:
        self._array = array
        self._log = log
        #: (element, kind) to the group, thread and span of the first access.
        self._first: dict[tuple[int, str], tuple[int, int, Span]] = {}
        #: (element, kind) to the interval, and by warp: warp interval, and up to two threads with their spans.
        self._recent: dict[tuple[int, str], tuple[tuple[int, int], dict[int, list[Any]]]] = {}
        self._conflicts = {kind: [other for other in kinds if _conflict(kind, other, deterministic)] for kind in kinds}

    def touch(self, element: int, kind: str, span: Span, who: tuple[int, int, int, int, int]) -> None:
        """Note an access by `who` (thread, group, interval, warp, warp interval) and log the races that it makes."""
        thread, group, interval, warp, warp_interval = who
        now = (group, interval)
        for other in self._conflicts[kind]:
            first = self._first.get((element, other))
            if first is not None and first[0] != group:
                self._report(element, other, first[1], first[2], thread, kind, span)
            recent = self._recent.get((element, other))
            if recent is None or recent[0] != now:
                continue
            for w, (at, *touches) in recent[1].items():
                for t, s in touches:
                    if w != warp or (at == warp_interval and t != thread):
                        self._report(element, other, t, s, thread, kind, span)
                        break
        self._first.setdefault((element, kind), (group, thread, span))
        recent = self._recent.get((element, kind))
        if recent is None or recent[0] != now:
            recent = self._recent[element, kind] = (now, {})
        mine = recent[1].setdefault(warp, [warp_interval])
        if mine[0] != warp_interval:
            mine[:] = [warp_interval]
        if len(mine) < 3 and all(t != thread for t, _ in mine[1:]):
            mine.append((thread, span))

    def _report(
        self, element: int, first: str, first_thread: int, first_span: Span, thread: int, kind: str, span: Span
    ) -> None:
        touches = Touch(first_thread, first, first_span), Touch(thread, kind, span)
        self._log.add(Race(self._array, element, *touches))


def _conflict(kind: str, other: str, deterministic: bool) -> bool:
    """Different atomics in turn give results that depend on the order, which only a deterministic kernel minds."""
    if kind == other:
        return kind == _WRITE
    return deterministic or not (kind.startswith("atomic") and other.startswith("atomic"))
