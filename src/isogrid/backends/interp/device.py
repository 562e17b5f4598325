"""Interpret device IR with the launch semantics of kernel IR, so that every lowering can be compared with its input.

Ints are non-negative Python ints (bits), floats NumPy scalars. What device IR leaves undefined (an unchecked
division by zero, an index outside its buffer) is a `CompilerBug`, never a result.
"""

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any, assert_never

from isogrid.backends.interp import control
from isogrid.backends.interp.control import (
    BREAK,
    CONTINUE,
    RETURN,
    Evaluator,
    Flow,
    Frame,
    Meeting,
    Plain,
    Signal,
    Waiter,
    Waiting,
)
from isogrid.backends.interp.device_operations import operation
from isogrid.backends.interp.expressions import Expressions
from isogrid.backends.interp.failures import ThreadTrap
from isogrid.backends.interp.launch import Outcome, run_program
from isogrid.backends.interp.layout import ArrayFacts, Layout
from isogrid.backends.interp.memory import zero
from isogrid.backends.interp.program import Program
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
        self._flow = Flow(layout)

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
        return control.sequence(tuple(self._statement(statement) for statement in block))

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
                condition, then = self._compile(node.condition), self.block(node.then)
                return control.choice(condition, then, self.block(node.otherwise) if node.otherwise else None)
            case d.For():
                values, counter = self._values(node), self._layout.place("local", node.counter)
                return control.counted_loop(values, counter, self.block(node.body))
            case d.Loop():
                return control.endless_loop(self.block(node.body))
            case d.Scope():
                return control.scope(self._flow.label(node.label), self.block(node.body))
            case d.Leave():
                leave = self._flow.label(node.label)
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

    def _values(self, node: d.For) -> Callable[[Frame], Iterator[int]]:
        """The counter's value in each trip; start, step and trips are read once."""
        start, step, trips = self._compile(node.start), self._compile(node.step), self._compile(node.trips)
        mask = (1 << node.type.bits) - 1

        def values(frame: Frame) -> Iterator[int]:
            first = start(frame)
            by = step(frame)
            return (first + trip * by & mask for trip in range(trips(frame)))

        return values

    # --- statements in which threads meet ---------------------------------------------------------------------------

    def meeting_block(self, block: d.Block) -> Waiter:
        return control.meeting_sequence(
            block, self._flow.trips(), self.block, lambda node: self._meeting(node) if _meets(node) else None
        )

    def _meeting(self, node: d.Statement) -> Waiter | Meeting:
        match node:
            case d.Barrier() | d.WarpBarrier():
                return Meeting(node.span, of_warp=isinstance(node, d.WarpBarrier))
            case d.Collective() | d.WarpCollective():
                return self._collective(node)
            case d.If():
                condition = self._compile(node.condition)
                return control.meeting_choice(
                    condition, self.meeting_block(node.then), self.meeting_block(node.otherwise)
                )
            case d.For():
                values, counter = self._values(node), self._layout.place("local", node.counter)
                with self._flow.counting() as count:
                    body = self.meeting_block(node.body)
                return control.meeting_counted_loop(values, counter, count, body)
            case d.Loop():
                with self._flow.counting() as count:
                    body = self.meeting_block(node.body)
                return control.meeting_while_loop(None, None, count, body)
            case d.Scope():
                return control.meeting_scope(self._flow.label(node.label), self.meeting_block(node.body))
            case _:
                raise CompilerBug(f"no barrier can stand inside {type(node).__name__}")

    def _collective(self, node: d.Collective | d.WarpCollective) -> Waiter:
        site = None if node.total is None else self._kernel.sites[node.total]
        of_warp = isinstance(node, d.WarpCollective)
        meeting = Meeting(node.span, node.op, node.scalar, node.exclusive, site, of_warp)
        lane = self._compile(node.lane) if isinstance(node, d.WarpCollective) and node.lane is not None else None
        value, target = self._brought(node), self._layout.place("local", node.target)
        return control.collective(meeting, self._flow.trips(), value, target, lane, self._received(node))

    def _brought(self, node: d.Collective | d.WarpCollective) -> Evaluator:
        value, type = self._compile(node.value), node.scalar
        return lambda frame: to_language(type, value(frame))

    def _received(self, node: d.Collective | d.WarpCollective) -> Callable[[Any], Any] | None:
        """How a result becomes bits. The votes of a ballot come as those of a word, whatever type the values have."""
        type = node.value.type
        return None if node.op == "ballot" else lambda result: to_machine(type, result)


def _meets(node: d.Statement) -> bool:
    return any(isinstance(n, d.Barrier | d.Collective | d.WarpBarrier | d.WarpCollective) for n in visit(node))


def _scalar(type: Machine) -> Scalar:
    return Scalar.F32 if type is Machine.F32 else Scalar.F64
