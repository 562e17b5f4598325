"""Compile kernel-IR statements into closures. One that holds a barrier or group operation becomes a generator function.

A closure runs in a thread's frame and gives None, or a signal: where control goes instead of the next statement. A
generator yields an arrival at each barrier and group operation and is sent the result of the latter.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, TypeAlias, assert_never

from isogrid.backends.interp.expressions import Expressions
from isogrid.backends.interp.failures import failure
from isogrid.backends.interp.layout import Layout
from isogrid.backends.interp.memory import element_count, zero
from isogrid.builtins import conversions
from isogrid.builtins.atomics import ATOMICS
from isogrid.builtins.meaning import Trapped
from isogrid.diagnostics.span import Span
from isogrid.ir import kernel as k
from isogrid.ir import sites
from isogrid.ir.traps import TrapSite
from isogrid.ir.types import Scalar
from isogrid.ir.walk import visit_statements
from isogrid.support.errors import CompilerBug

Frame: TypeAlias = list[Any]


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


def meets(node: k.Statement) -> bool:
    """Whether threads may wait for each other inside this statement."""
    meetings = k.Barrier | k.Collective | k.WarpBarrier | k.WarpCollective
    return any(isinstance(n, meetings) for n in visit_statements(node))


class Statements:
    """Compiles the statements of one kernel."""

    def __init__(self, layout: Layout, races: bool) -> None:
        self._layout = layout
        self._expressions = Expressions(layout, races)
        self._compile = self._expressions.compile
        self._subscripts = self._expressions.subscripts
        self._labels: dict[str, Signal] = {}
        self._trips: list[int] = []

    def block(self, block: k.Block) -> Plain:
        """A block without barriers."""
        steps = tuple(self._statement(s) for s in block)
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

    def meeting_block(self, block: k.Block) -> Waiter:
        """A block that may hold barriers: runs of statements without, and between them what threads wait in."""
        steps: list[tuple[Plain | None, Meeting | None, Waiter]] = []
        for meeting, run_of in groupby(block, meets):
            statements = tuple(run_of)
            if not meeting:
                steps.append((self.block(statements), None, _no_wait))
                continue
            for statement in statements:
                if isinstance(statement, k.Barrier | k.WarpBarrier):
                    of_warp = isinstance(statement, k.WarpBarrier)
                    steps.append((None, Meeting(statement.span, of_warp=of_warp), _no_wait))
                else:
                    steps.append((None, None, self._meeting(statement)))
        return waiting_block(tuple(steps), trips_of(self._trips))

    def _statement(self, node: k.Statement) -> Plain:
        match node:
            case k.Assign():
                return self._assign(node)
            case k.Evaluate():
                value = self._compile(node.value)

                def evaluate(frame: Frame) -> None:
                    value(frame)

                return evaluate
            case k.Store():
                return self._store(node)
            case k.Atomic():
                return self._atomic(node)
            case k.If():
                return self._if(node)
            case k.For():
                return self._for(node)
            case k.While():
                return self._while(node)
            case k.Scope():
                return self._scope(node)
            case k.Leave():
                label = self._label(node.label)
                return lambda frame: label
            case k.Break():
                return lambda frame: BREAK
            case k.Continue():
                return lambda frame: CONTINUE
            case k.Return():
                return lambda frame: RETURN
            case k.Assert():
                return self._assert(node)
            case k.DeclareLocal():
                return self._declare(node)
            case k.Barrier() | k.Collective() | k.WarpBarrier() | k.WarpCollective():
                raise CompilerBug("a barrier in a block that was compiled without")
            case _:
                assert_never(node)

    def _label(self, label: str) -> Signal:
        return self._labels.setdefault(label, Signal(label))

    def _assign(self, node: k.Assign) -> Plain:
        place, value = self._layout.place("local", node.name), self._compile(node.value)

        def assign(frame: Frame) -> None:
            frame[place] = value(frame)

        return assign

    def _assert(self, node: k.Assert) -> Plain:
        condition, fail = self._compile(node.condition), failure(sites.assert_site(node), True)

        def check(frame: Frame) -> None:
            if not condition(frame):
                fail()

        return check

    def _declare(self, node: k.DeclareLocal) -> Plain:
        place, count = self._layout.place("memory", node.name), element_count(node.shape)
        start = zero(node.element) if node.zeroed else None

        def declare(frame: Frame) -> None:
            frame[place] = [start] * count

        return declare

    def _store(self, node: k.Store) -> Plain:
        compute, narrow = self._compile(node.value), self._narrow(node)
        element, note = self._subscripts.element(node), self._subscripts.note(node, "write")
        memory = self._subscripts.memory(node.array)

        def store(frame: Frame) -> None:
            value = compute(frame)
            frame[memory][element(frame)] = value

        def store_noted(frame: Frame) -> None:
            value = compute(frame)
            at = element(frame)
            if narrow is not None:
                value = narrow(value)
            if note is not None:
                note(frame, at)
            frame[memory][at] = value

        return store if narrow is None and note is None else store_noted

    def _narrow(self, node: k.Store) -> Callable[[Any], Any] | None:
        """How the value becomes an element: None where it is one already."""
        source, target = node.value.type, node.element
        if source is target:
            return None
        row = conversions.conversion(source, target)
        if row is None:
            raise CompilerBug(f"no conversion from {source} to an element of type {target} at {node.span}")
        meaning, fail = row.meaning, failure(sites.narrow_site(node), node.narrow_checked)

        def narrow(value: Any) -> Any:
            try:
                return meaning(target, value)
            except Trapped:
                pass
            return fail(value)

        return narrow

    def _atomic(self, node: k.Atomic) -> Plain:
        if node.op == "add" and node.element.is_checked:
            return self._total(node)
        element, note = self._subscripts.element(node), self._subscripts.note(node, f"atomic_{node.op}")
        memory, type = self._subscripts.memory(node.array), node.element
        value, meaning = self._compile(node.value), ATOMICS[node.op].meaning
        expected = None if node.expected is None else self._compile(node.expected)
        target = self._layout.place("local", node.target) if node.target else None

        def update(frame: Frame) -> None:
            at = element(frame)
            operands = (value(frame),) if expected is None else tuple(reversed((expected(frame), value(frame))))
            if note is not None:
                note(frame, at)
            elements = frame[memory]
            old = _written(elements[at], node)
            elements[at] = meaning(type, old, *operands)
            if target is not None:
                frame[target] = old

        return update

    def _total(self, node: k.Atomic) -> Plain:
        """An add on a checked type: the element wraps, and the totals count how often it leaves the type."""
        element, note = self._subscripts.element(node), self._subscripts.note(node, "atomic_add")
        memory, totals = self._subscripts.memory(node.array), self._layout.place("totals", node.array)
        value, type = self._compile(node.value), node.element
        low, high, bits = type.minimum, type.maximum, type.bits
        target = self._layout.place("local", node.target) if node.target else None

        def update(frame: Frame) -> None:
            at = element(frame)
            addend = value(frame)
            if note is not None:
                note(frame, at)
            elements = frame[memory]
            old = _written(elements[at], node)
            if target is not None:
                frame[target] = old
            exact = old + addend
            if not low <= exact <= high:
                times = (exact - low) >> bits
                frame[totals].wrapped(at, times)
                exact -= times << bits
            elements[at] = exact

        return update

    def _if(self, node: k.If) -> Plain:
        condition, then = self._compile(node.condition), self.block(node.then)
        if not node.otherwise:
            return lambda frame: then(frame) if condition(frame) else None
        otherwise = self.block(node.otherwise)
        return lambda frame: then(frame) if condition(frame) else otherwise(frame)

    def _range(self, node: k.For) -> Callable[[Frame], range]:
        start, stop, step = self._compile(node.start), self._compile(node.stop), self._compile(node.step)
        fail = failure(sites.step_site(node), node.step_checked)

        def trips(frame: Frame) -> range:
            first = start(frame)
            end = stop(frame)
            by = step(frame)
            return range(first, end, by) if by else fail(by)

        return trips

    def _for(self, node: k.For) -> Plain:
        trips, counter = self._range(node), self._layout.place("local", node.counter)
        body = self.block(node.body)

        def loop(frame: Frame) -> Signal | None:
            for value in trips(frame):
                frame[counter] = value
                signal = body(frame)
                if signal is not None and signal is not CONTINUE:
                    return None if signal is BREAK else signal
            return None

        return loop

    def _while(self, node: k.While) -> Plain:
        prelude, condition, body = self.block(node.prelude), self._compile(node.condition), self.block(node.body)

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

    def _scope(self, node: k.Scope) -> Plain:
        label, body = self._label(node.label), self.block(node.body)

        def scope(frame: Frame) -> Signal | None:
            signal = body(frame)
            return None if signal is label else signal

        return scope

    # --- statements in which threads meet ---------------------------------------------------------------------------

    def _meeting(self, node: k.Statement) -> Waiter:
        match node:
            case k.Collective():
                return self._collective(node)
            case k.WarpCollective():
                return self._warp_collective(node)
            case k.If():
                return self._meeting_if(node)
            case k.For():
                return self._meeting_for(node)
            case k.While():
                return self._meeting_while(node)
            case k.Scope():
                return self._meeting_scope(node)
            case _:
                raise CompilerBug(f"no barrier can stand inside {type(node).__name__}")

    def _collective(self, node: k.Collective) -> Waiter:
        trips, value = trips_of(self._trips), self._compile(node.value)
        target = self._layout.place("local", node.target)
        site = sites.collective_site(node) if node.total_checked else None
        meeting = Meeting(node.span, node.op, node.type, node.exclusive, site)

        def wait(frame: Frame) -> Waiting:
            own = value(frame)
            frame[target] = yield meeting, trips(frame), own
            return None

        return wait

    def _warp_collective(self, node: k.WarpCollective) -> Waiter:
        trips, value = trips_of(self._trips), self._compile(node.value)
        lane = None if node.lane is None else self._compile(node.lane)
        target = self._layout.place("local", node.target)
        site = sites.collective_site(node) if node.total_checked else None
        meeting = Meeting(node.span, node.op, node.type, node.exclusive, site, of_warp=True)

        def wait(frame: Frame) -> Waiting:
            own = value(frame)
            source = 0 if lane is None else lane(frame)
            frame[target] = yield meeting, trips(frame), (own, source)
            return None

        return wait

    def _meeting_if(self, node: k.If) -> Waiter:
        condition = self._compile(node.condition)
        then, otherwise = self.meeting_block(node.then), self.meeting_block(node.otherwise)

        def run(frame: Frame) -> Waiting:
            return (yield from (then if condition(frame) else otherwise)(frame))

        return run

    def _counted(self, block: k.Block) -> tuple[int, Waiter]:
        """A loop body, and the frame place where its loop counts trips for the arrivals inside."""
        place = self._layout.place("trips", str(self._layout.size))
        self._trips.append(place)
        body = self.meeting_block(block)
        self._trips.pop()
        return place, body

    def _meeting_for(self, node: k.For) -> Waiter:
        trips, counter = self._range(node), self._layout.place("local", node.counter)
        count, body = self._counted(node.body)

        def loop(frame: Frame) -> Waiting:
            for trip, value in enumerate(trips(frame)):
                frame[count] = trip
                frame[counter] = value
                signal = yield from body(frame)
                if signal is not None and signal is not CONTINUE:
                    return None if signal is BREAK else signal
            return None

        return loop

    def _meeting_while(self, node: k.While) -> Waiter:
        count, prelude = self._counted(node.prelude)
        self._trips.append(count)
        condition, body = self._compile(node.condition), self.meeting_block(node.body)
        self._trips.pop()

        def loop(frame: Frame) -> Waiting:
            frame[count] = 0
            while True:
                if node.prelude:
                    signal = yield from prelude(frame)
                    if signal is not None:
                        return signal
                if not condition(frame):
                    return None
                signal = yield from body(frame)
                if signal is not None and signal is not CONTINUE:
                    return None if signal is BREAK else signal
                frame[count] += 1

        return loop

    def _meeting_scope(self, node: k.Scope) -> Waiter:
        label, body = self._label(node.label), self.meeting_block(node.body)

        def scope(frame: Frame) -> Waiting:
            signal = yield from body(frame)
            return None if signal is label else signal

        return scope


def waiting_block(steps: tuple[tuple[Plain | None, Meeting | None, Waiter], ...], trips: Trips) -> Waiter:
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


def trips_of(places: list[int]) -> Trips:
    """The trips of the loops whose counts stand at these frame places."""
    match tuple(places):
        case ():
            return lambda frame: ()
        case (only,):
            return lambda frame: (frame[only],)
        case several:
            return lambda frame: tuple([frame[place] for place in several])


def _no_wait(frame: Frame) -> Waiting:
    raise CompilerBug("a step that does not wait was waited for")


def _written(value: Any, node: k.Atomic) -> Any:
    if value is None:
        raise CompilerBug(f"an element of `{node.array}` was proved written and is updated before, at {node.span}")
    return value
