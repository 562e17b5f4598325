"""How control flows through compiled statements, of either IR: signals, sequences, choices, loops, and meetings.

A closure runs in a thread's frame and gives None, or a signal: where control goes instead of the next statement. A
generator yields an arrival at each barrier and group operation and is sent the result of the latter.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, TypeAlias, TypeVar

from isogrid.backends.interp.layout import Layout
from isogrid.diagnostics.span import Span
from isogrid.ir.traps import TrapSite
from isogrid.ir.types import Scalar
from isogrid.support.errors import CompilerBug

Frame: TypeAlias = list[Any]
Evaluator: TypeAlias = Callable[[Frame], Any]
Statement = TypeVar("Statement")


class Signal:
    """Where control goes after a statement; compared by identity."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


BREAK: Final = Signal("break")
CONTINUE: Final = Signal("continue")
RETURN: Final = Signal("return")


@dataclass(frozen=True, slots=True)
class Meeting:
    """One barrier or operation of a group, or of its warps (`of_warp`); compared by identity. `op` is "" for a barrier.

    `site` is that of a total that may leave the type; None where it cannot or was proved not to. The value of an
    arrival at a warp operation is the pair of value and lane operand.
    """

    span: Span
    op: str = ""
    type: Scalar = Scalar.BOOL
    exclusive: bool = False
    site: TrapSite | None = None
    of_warp: bool = False


#: A thread waits at a meeting, in these trips of the loops around it, with this value for a group operation.
Arrival: TypeAlias = tuple[Meeting, tuple[int, ...], Any]
Waiting: TypeAlias = Generator[Arrival, Any, Signal | None]
#: A plain closure gives a signal or None; a waiter gives a generator that returns one.
Plain: TypeAlias = Callable[[Frame], Signal | None]
Waiter: TypeAlias = Callable[[Frame], Waiting]
Trips: TypeAlias = Callable[[Frame], tuple[int, ...]]


class Flow:
    """The labels of one kernel, and the frame places where the loops around a statement count their trips."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._labels: dict[str, Signal] = {}
        self._counts: list[int] = []

    def label(self, name: str) -> Signal:
        return self._labels.setdefault(name, Signal(name))

    @contextmanager
    def counting(self) -> Generator[int]:
        """What is compiled meanwhile stands in a loop that counts its trips for the arrivals inside, at this place."""
        place = self._layout.place("trips", str(self._layout.size))
        self._counts.append(place)
        yield place
        self._counts.pop()

    def trips(self) -> Trips:
        """The trips of the loops around."""
        match tuple(self._counts):
            case ():
                return lambda frame: ()
            case (only,):
                return lambda frame: (frame[only],)
            case several:
                return lambda frame: tuple([frame[place] for place in several])


# --- without meetings -----------------------------------------------------------------------------------------------


def sequence(steps: Sequence[Plain]) -> Plain:
    """One after the other, up to the first signal."""
    match steps:
        case ():
            return lambda frame: None
        case (only,):
            return only
        case (first, second):
            return lambda frame: first(frame) or second(frame)
        case _:
            pass

    def run(frame: Frame) -> Signal | None:
        for step in steps:
            signal = step(frame)
            if signal is not None:
                return signal
        return None

    return run


def choice(condition: Evaluator, then: Plain, otherwise: Plain | None) -> Plain:
    if otherwise is None:
        return lambda frame: then(frame) if condition(frame) else None
    return lambda frame: then(frame) if condition(frame) else otherwise(frame)


def scope(label: Signal, body: Plain) -> Plain:
    """A body that its label leaves."""
    return lambda frame: None if (signal := body(frame)) is label else signal


def counted_loop(values: Callable[[Frame], Iterable[Any]], counter: int, body: Plain) -> Plain:
    """A loop whose counter takes each value in turn."""

    def loop(frame: Frame) -> Signal | None:
        for value in values(frame):
            frame[counter] = value
            signal = body(frame)
            if signal is not None and signal is not CONTINUE:
                return None if signal is BREAK else signal
        return None

    return loop


def endless_loop(body: Plain) -> Plain:
    """A loop that only a signal leaves."""

    def loop(frame: Frame) -> Signal | None:
        while True:
            signal = body(frame)
            if signal is not None and signal is not CONTINUE:
                return None if signal is BREAK else signal

    return loop


def while_loop(prelude: Plain, condition: Evaluator, body: Plain) -> Plain:
    """A loop that ends where, behind its prelude, its condition is false."""

    def loop(frame: Frame) -> Signal | None:
        while True:
            signal = prelude(frame)
            if signal is not None:
                return signal
            if not condition(frame):
                return None
            signal = body(frame)
            if signal is not None and signal is not CONTINUE:
                return None if signal is BREAK else signal

    return loop


# --- with meetings --------------------------------------------------------------------------------------------------


def meeting_sequence(
    block: Sequence[Statement],
    trips: Trips,
    plain: Callable[[tuple[Statement, ...]], Plain],
    meeting: Callable[[Statement], Waiter | Meeting | None],
) -> Waiter:
    """Runs of statements in which no thread waits, made by `plain`, and what threads wait in: `meeting` gives a barrier
    itself, else a waiter, and None for a statement without."""
    steps: list[tuple[Plain | None, Meeting | None, Waiter]] = []
    made = ((statement, meeting(statement)) for statement in block)
    for waits, run_of in groupby(made, lambda pair: pair[1] is not None):
        pairs = tuple(run_of)
        if not waits:
            steps.append((plain(tuple(statement for statement, _ in pairs)), None, _no_wait))
            continue
        for _, made_of in pairs:
            if isinstance(made_of, Meeting):
                steps.append((None, made_of, _no_wait))
            elif made_of is not None:
                steps.append((None, None, made_of))
    return _waiting_block(tuple(steps), trips)


def _waiting_block(steps: tuple[tuple[Plain | None, Meeting | None, Waiter], ...], trips: Trips) -> Waiter:
    """Run steps in turn: a plain closure, else a barrier to wait at, else a generator to go through."""

    def run(frame: Frame) -> Waiting:
        for plain, barrier, waiter in steps:
            if plain is not None:
                signal = plain(frame)
            elif barrier is not None:
                yield barrier, trips(frame), None
                continue
            else:
                signal = yield from waiter(frame)
            if signal is not None:
                return signal
        return None

    return run


def collective(
    meeting: Meeting,
    trips: Trips,
    value: Evaluator,
    target: int,
    lane: Evaluator | None = None,
    receive: Callable[[Any], Any] | None = None,
) -> Waiter:
    """Bring a value to a meeting and keep its result, as `receive` makes it; operations of warps bring a lane too."""

    def wait(frame: Frame) -> Waiting:
        own = value(frame)
        brought = (own, 0 if lane is None else lane(frame)) if meeting.of_warp else own
        result = yield meeting, trips(frame), brought
        frame[target] = result if receive is None else receive(result)
        return None

    return wait


def meeting_choice(condition: Evaluator, then: Waiter, otherwise: Waiter) -> Waiter:
    def run(frame: Frame) -> Waiting:
        return (yield from (then if condition(frame) else otherwise)(frame))

    return run


def meeting_scope(label: Signal, body: Waiter) -> Waiter:
    def run(frame: Frame) -> Waiting:
        signal = yield from body(frame)
        return None if signal is label else signal

    return run


def meeting_counted_loop(values: Callable[[Frame], Iterable[Any]], counter: int, count: int, body: Waiter) -> Waiter:
    """A loop whose counter takes each value in turn; `count` is the place of its trips."""

    def loop(frame: Frame) -> Waiting:
        for trip, value in enumerate(values(frame)):
            frame[count] = trip
            frame[counter] = value
            signal = yield from body(frame)
            if signal is not None and signal is not CONTINUE:
                return None if signal is BREAK else signal
        return None

    return loop


def meeting_while_loop(prelude: Waiter | None, condition: Evaluator | None, count: int, body: Waiter) -> Waiter:
    """A loop that ends where its condition is false, which None never is."""

    def loop(frame: Frame) -> Waiting:
        frame[count] = 0
        while True:
            if prelude is not None:
                signal = yield from prelude(frame)
                if signal is not None:
                    return signal
            if condition is not None and not condition(frame):
                return None
            signal = yield from body(frame)
            if signal is not None and signal is not CONTINUE:
                return None if signal is BREAK else signal
            frame[count] += 1

    return loop


def _no_wait(frame: Frame) -> Waiting:
    raise CompilerBug("a step that does not wait was waited for")
