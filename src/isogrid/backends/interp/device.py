"""Interpret device IR with the launch semantics of kernel IR, so that every lowering can be compared with its input.

Ints are non-negative Python ints (bits), floats NumPy scalars. What device IR leaves undefined (an unchecked
division by zero, an index outside its buffer) is a `CompilerBug`, never a result.
"""

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias, assert_never

from isogrid.backends.interp.device_operations import operation
from isogrid.backends.interp.expressions import Expressions
from isogrid.backends.interp.failures import ThreadTrap
from isogrid.backends.interp.launch import Outcome, run_program
from isogrid.backends.interp.layout import ArrayFacts, Layout
from isogrid.backends.interp.memory import zero
from isogrid.backends.interp.program import Program
from isogrid.backends.interp.statements import (
    BREAK,
    CONTINUE,
    RETURN,
    Meeting,
    Signal,
    Waiting,
    trips_of,
    waiting_block,
)
from isogrid.builtins import floats, integers
from isogrid.builtins.atomics import ATOMICS
from isogrid.builtins.conversions import STORED_FLOATS
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.device import Machine
from isogrid.ir.traps import TrapSite
from isogrid.ir.types import Scalar, Space
from isogrid.ir.walk import visit
from isogrid.runtimes.protocol import BoundLaunch
from isogrid.support.errors import CompilerBug

Frame: TypeAlias = list[Any]
Evaluator: TypeAlias = Callable[[Frame], Any]
Plain: TypeAlias = Callable[[Frame], Signal | None]
Waiter: TypeAlias = Callable[[Frame], Waiting]

_QUERIES = {"thread": "gid", "local": "lid", "group": "group_id", "extent": "grid_size", "groups": "num_groups"}


def run_device(kernel: d.Kernel, bound: BoundLaunch, *, order: int | None = None) -> Outcome:
    """Launch device IR: the same arrays or the same trap as the kernel IR that it was lowered from."""
    return run_program(compile_device(kernel), bound, order=order)


def compile_device(kernel: d.Kernel) -> Program:
    """Compile device IR to a program. Its host-side part is that of the kernel IR, with an empty body."""
    layout = _layout(kernel)
    host = _host_part(kernel)
    for parameter in kernel.parameters:
        layout.place("memory" if isinstance(parameter, k.ArrayParameter) else "scalar", parameter.name)
    compiler = _Compiler(kernel, layout)
    waits = any(_meets(statement) for statement in kernel.body)
    warps = any(isinstance(node, d.WarpBarrier | d.WarpCollective) for s in kernel.body for node in visit(s))
    start = compiler.locals_of_thread()
    extents = {
        parameter.name: tuple(_extent(layout, extent) for extent in parameter.shape)
        for parameter in kernel.parameters
        if isinstance(parameter, k.ArrayParameter)
    }
    if waits:
        meeting_body = compiler.meeting_block(kernel.body)

        def meeting(frame: Frame) -> Waiting:
            start(frame)
            return (yield from meeting_body(frame))

        return Program(host, layout, None, meeting, extents, False, warps)
    plain_body = compiler.block(kernel.body)

    def body(frame: Frame) -> Signal | None:
        start(frame)
        return plain_body(frame)

    return Program(host, layout, body, None, extents, False)


def _extent(layout: Layout, extent: k.Expr) -> Evaluator:
    return Expressions(layout, races=False).compile(extent)


def _host_part(kernel: d.Kernel) -> k.Kernel:
    """The facts of a launch that do not depend on the body, as kernel IR."""
    shared = tuple(
        k.SharedArray(b.name, b.element, (b.count or 0,), b.zeroed) for b in kernel.buffers if b.space is Space.SHARED
    )
    tables = tuple(
        k.Table(b.name, b.element, (b.count or 0,), b.data) for b in kernel.buffers if b.space is Space.TABLE
    )
    return k.Kernel(
        kernel.name,
        kernel.parameters,
        kernel.dims,
        kernel.geometry,
        kernel.grouped,
        shared,
        tables,
        kernel.requires,
        (),
        kernel.warp,
        kernel.deterministic,
        kernel.races,
        kernel.reason,
        span=kernel.span,
    )


def _layout(kernel: d.Kernel) -> Layout:
    totals: dict[str, TrapSite] = {}
    for statement in kernel.body:
        for node in visit(statement):
            if isinstance(node, d.Atomic) and node.total is not None:
                totals.setdefault(node.buffer, kernel.sites[node.total])
    layout = Layout(total_sites=totals)
    for buffer in kernel.buffers:
        layout.arrays[buffer.name] = ArrayFacts(
            buffer.name, buffer.element, buffer.space, 1, (buffer.count or 0,), (), not buffer.zeroed
        )
    return layout


def to_language(type: Scalar, value: Any) -> Any:
    """Machine bits as a value of a type of the language."""
    if type in STORED_FLOATS:
        return floats.from_bits(type, int(value))
    if type.is_float:
        return value
    return bool(value) if type is Scalar.BOOL else integers.wrap(type, int(value))


def to_machine(type: Machine, value: Any) -> Any:
    """A value of the language as machine bits."""
    return value if type.is_float else int(value) & ((1 << type.bits) - 1)


class _Compiler:
    """Compiles the body of one device kernel into closures."""

    def __init__(self, kernel: d.Kernel, layout: Layout) -> None:
        self._kernel = kernel
        self._layout = layout
        self._buffers = {buffer.name: buffer for buffer in kernel.buffers}
        self._labels: dict[str, Signal] = {}
        self._trips: list[int] = []

    def locals_of_thread(self) -> Callable[[Frame], None]:
        """Give a new thread its local buffers, which nothing may read before a `Fill` or a store."""
        places = [
            (self._layout.place("memory", b.name), b.count or 0) for b in self._kernel.buffers if b.space is Space.LOCAL
        ]

        def start(frame: Frame) -> None:
            for place, count in places:
                frame[place] = [None] * count

        return start

    # --- expressions ------------------------------------------------------------------------------------------------

    def _compile(self, node: d.Expr) -> Evaluator:
        match node:
            case d.Literal():
                value = floats.from_bits(_scalar(node.type), node.bits) if node.type.is_float else node.bits
                return lambda frame: value
            case d.Value():
                return self._value(node)
            case d.Argument():
                place, type = self._layout.place(node.kind, node.name), node.type
                return lambda frame: to_machine(type, frame[place])
            case d.Special():
                return itemgetter(self._layout.query(_QUERIES[node.kind], node.axis))
            case d.Op():
                return self._op(node)
            case d.Load():
                return self._load(node)
            case _:
                assert_never(node)

    def _value(self, node: d.Value) -> Evaluator:
        place = self._layout.place("local", node.name)

        def read(frame: Frame) -> Any:
            value = frame[place]
            if value is None:
                raise CompilerBug(f"device IR reads `{node.name}` before it is set, at {node.span}")
            return value

        return read

    def _op(self, node: d.Op) -> Evaluator:
        arguments = tuple(self._compile(argument) for argument in node.arguments)
        meaning = operation(node.op, node.arguments[0].type, node.type)
        match arguments:
            case (one,):
                return lambda frame: meaning(one(frame))
            case (one, two):
                return lambda frame: meaning(one(frame), two(frame))
            case _:
                return lambda frame: meaning(*[argument(frame) for argument in arguments])

    def _load(self, node: d.Load) -> Evaluator:
        element, place, type = self._element(node, node.index), self._layout.place("memory", node.buffer), node.type
        note, stored = self._note(node.buffer), self._buffers[node.buffer].element

        def load(frame: Frame) -> Any:
            at = element(frame)
            note(frame, at)
            value = frame[place][at]
            if value is None:
                raise CompilerBug(f"device IR reads element {at} of `{node.buffer}` before it is set, at {node.span}")
            return floats.to_bits(stored, value) if stored in STORED_FLOATS else to_machine(type, value)

        return load

    def _element(self, node: d.Load | d.Store | d.Atomic, index: d.Expr) -> Evaluator:
        """The index of an access, which a `Check` before it has put in range."""
        value, bits, place = self._compile(index), index.type.bits, self._layout.place("memory", node.buffer)

        def element(frame: Frame) -> int:
            at = value(frame)
            if not 0 <= at < len(frame[place]):
                signed = at - (1 << bits) if at >> (bits - 1) else at
                raise CompilerBug(f"device IR touches `{node.buffer}[{signed}]` without a check, at {node.span}")
            return at

        return element

    def _note(self, buffer: str) -> Callable[[Frame, int], None]:
        """Tell the totals of a global buffer about a plain access."""
        if not self._layout.notes_plain(buffer):
            return lambda frame, at: None
        totals = self._layout.place("totals", buffer)
        return lambda frame, at: frame[totals].touched.add(at)

    # --- statements -------------------------------------------------------------------------------------------------

    def block(self, block: d.Block) -> Plain:
        steps = tuple(self._statement(statement) for statement in block)

        def run(frame: Frame) -> Signal | None:
            for step in steps:
                signal = step(frame)
                if signal is not None:
                    return signal
            return None

        return run

    def _statement(self, node: d.Statement) -> Plain:
        match node:
            case d.Let() | d.Set():
                place, value = self._layout.place("local", node.name), self._compile(node.value)

                def assign(frame: Frame) -> None:
                    frame[place] = value(frame)

                return assign
            case d.Store():
                return self._store(node)
            case d.Atomic():
                return self._atomic(node)
            case d.Check():
                return self._check(node)
            case d.If():
                condition, then, otherwise = (
                    self._compile(node.condition),
                    self.block(node.then),
                    self.block(node.otherwise),
                )
                return lambda frame: then(frame) if condition(frame) else otherwise(frame)
            case d.For():
                return self._for(node)
            case d.Loop():
                return self._loop(node)
            case d.Scope():
                label, body = self._label(node.label), self.block(node.body)
                return lambda frame: None if (signal := body(frame)) is label else signal
            case d.Leave():
                leave = self._label(node.label)
                return lambda frame: leave
            case d.Break():
                return lambda frame: BREAK
            case d.Continue():
                return lambda frame: CONTINUE
            case d.Return():
                return lambda frame: RETURN
            case d.Fill():
                return self._fill(node)
            case d.Barrier() | d.Collective() | d.WarpBarrier() | d.WarpCollective():
                raise CompilerBug("a barrier in a block that was compiled without")
            case d.Agree():
                raise CompilerBug("threads agree only where a target has no warps, and this one has")
            case _:
                assert_never(node)

    def _label(self, label: str) -> Signal:
        return self._labels.setdefault(label, Signal(label))

    def _store(self, node: d.Store) -> Plain:
        element, value, note = self._element(node, node.index), self._compile(node.value), self._note(node.buffer)
        place, type = self._layout.place("memory", node.buffer), self._buffers[node.buffer].element

        def store(frame: Frame) -> None:
            at = element(frame)
            note(frame, at)
            frame[place][at] = to_language(type, value(frame))

        return store

    def _atomic(self, node: d.Atomic) -> Plain:
        element, value, note = self._element(node, node.index), self._compile(node.value), self._note(node.buffer)
        place, type, meaning = self._layout.place("memory", node.buffer), node.element, ATOMICS[node.op].meaning
        expected = None if node.expected is None else self._compile(node.expected)
        totals = None if node.total is None else self._layout.place("totals", node.buffer)
        target, machine = self._layout.place("local", node.target) if node.target else None, node.value.type

        def update(frame: Frame) -> None:
            at = element(frame)
            elements = frame[place]
            old = elements[at]
            if target is not None:
                frame[target] = to_machine(machine, old)
            operand = to_language(type, value(frame))
            if expected is not None:
                elements[at] = meaning(type, old, operand, to_language(type, expected(frame)))
            else:
                elements[at] = meaning(type, old, operand)
            if node.op != "add":
                note(frame, at)
            elif totals is not None and (times := (old + operand - elements[at]) >> type.bits):
                frame[totals].wrapped(at, times)

        return update

    def _check(self, node: d.Check) -> Plain:
        ok, site = self._compile(node.ok), self._kernel.sites[node.site]
        operands = tuple(self._compile(operand) for operand in node.operands)

        def check(frame: Frame) -> None:
            if not ok(frame):
                values = [to_language(t, v(frame)) for t, v in zip(site.operands, operands, strict=True)]
                raise ThreadTrap(site, values)

        return check

    def _fill(self, node: d.Fill) -> Plain:
        place, buffer = self._layout.place("memory", node.buffer), self._buffers[node.buffer]
        start, count = zero(buffer.element), buffer.count or 0

        def fill(frame: Frame) -> None:
            frame[place] = [start] * count

        return fill

    def _counter(self, node: d.For) -> Callable[[Frame], Iterator[Any]]:
        """Set the counter for each trip in turn; start, step and trips are read once."""
        start, step, trips = self._compile(node.start), self._compile(node.step), self._compile(node.trips)
        place, mask = self._layout.place("local", node.counter), (1 << node.type.bits) - 1

        def count(frame: Frame) -> Iterator[Any]:
            first = start(frame)
            by = step(frame)
            for trip in range(trips(frame)):
                frame[place] = first + trip * by & mask
                yield trip

        return count

    def _for(self, node: d.For) -> Plain:
        counter, body = self._counter(node), self.block(node.body)

        def loop(frame: Frame) -> Signal | None:
            for _ in counter(frame):
                signal = body(frame)
                if signal is not None and signal is not CONTINUE:
                    return None if signal is BREAK else signal
            return None

        return loop

    def _loop(self, node: d.Loop) -> Plain:
        body = self.block(node.body)

        def loop(frame: Frame) -> Signal | None:
            while True:
                signal = body(frame)
                if signal is not None and signal is not CONTINUE:
                    return None if signal is BREAK else signal

        return loop

    # --- statements in which threads meet ---------------------------------------------------------------------------

    def meeting_block(self, block: d.Block) -> Waiter:
        steps: list[tuple[Plain | None, Meeting | None, Waiter]] = []
        for meeting, run_of in groupby(block, _meets):
            statements = tuple(run_of)
            if meeting:
                steps.extend((None, None, self._meeting(statement)) for statement in statements)
            else:
                steps.append((self.block(statements), None, _no_wait))
        return waiting_block(tuple(steps), trips_of(self._trips))

    def _meeting(self, node: d.Statement) -> Waiter:
        match node:
            case d.Barrier():
                return self._wait(Meeting(node.span), None, None)
            case d.Collective():
                site = None if node.total is None else self._kernel.sites[node.total]
                meeting = Meeting(node.span, node.op, node.scalar, node.exclusive, site)
                return self._wait(meeting, self._compile(node.value), node)
            case d.WarpBarrier():
                return self._wait(Meeting(node.span, of_warp=True), None, None)
            case d.WarpCollective():
                return self._warp_collective(node)
            case d.If():
                condition = self._compile(node.condition)
                then, otherwise = self.meeting_block(node.then), self.meeting_block(node.otherwise)

                def choose(frame: Frame) -> Waiting:
                    return (yield from (then if condition(frame) else otherwise)(frame))

                return choose
            case d.For() | d.Loop():
                return self._meeting_loop(node)
            case d.Scope():
                label, body = self._label(node.label), self.meeting_block(node.body)

                def scope(frame: Frame) -> Waiting:
                    signal = yield from body(frame)
                    return None if signal is label else signal

                return scope
            case _:
                raise CompilerBug(f"no barrier can stand inside {type(node).__name__}")

    def _wait(self, meeting: Meeting, value: Evaluator | None, node: d.Collective | None) -> Waiter:
        trips = trips_of(self._trips)
        target = None if node is None else self._layout.place("local", node.target)

        def wait(frame: Frame) -> Waiting:
            if value is None or node is None or target is None:
                yield meeting, trips(frame), None
                return None
            result = yield meeting, trips(frame), to_language(node.scalar, value(frame))
            frame[target] = to_machine(node.value.type, result)
            return None

        return wait

    def _warp_collective(self, node: d.WarpCollective) -> Waiter:
        site = None if node.total is None else self._kernel.sites[node.total]
        meeting = Meeting(node.span, node.op, node.scalar, node.exclusive, site, of_warp=True)
        trips, value = trips_of(self._trips), self._compile(node.value)
        lane = None if node.lane is None else self._compile(node.lane)
        target = self._layout.place("local", node.target)
        ballot = node.op == "ballot"

        def wait(frame: Frame) -> Waiting:
            own = to_language(node.scalar, value(frame))
            source = 0 if lane is None else lane(frame)
            result = yield meeting, trips(frame), (own, source)
            frame[target] = result if ballot else to_machine(node.value.type, result)
            return None

        return wait

    def _meeting_loop(self, node: d.For | d.Loop) -> Waiter:
        count = self._layout.place("trips", str(self._layout.size))
        self._trips.append(count)
        body = self.meeting_block(node.body)
        self._trips.pop()
        trips = self._counter(node) if isinstance(node, d.For) else _endless

        def loop(frame: Frame) -> Waiting:
            for trip in trips(frame):
                frame[count] = trip
                signal = yield from body(frame)
                if signal is not None and signal is not CONTINUE:
                    return None if signal is BREAK else signal
            return None

        return loop


def _endless(frame: Frame) -> Iterator[int]:
    trip = 0
    while True:
        yield trip
        trip += 1


def _no_wait(frame: Frame) -> Waiting:
    raise CompilerBug("a step that does not wait was waited for")


def _meets(node: d.Statement) -> bool:
    return any(isinstance(n, d.Barrier | d.Collective | d.WarpBarrier | d.WarpCollective) for n in visit(node))


def _scalar(type: Machine) -> Scalar:
    return Scalar.F32 if type is Machine.F32 else Scalar.F64
