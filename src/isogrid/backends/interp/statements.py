"""Compile kernel-IR statements into closures, those that hold a barrier or group operation into generator functions."""

from collections.abc import Callable
from typing import Any, assert_never

from isogrid.backends.interp import control
from isogrid.backends.interp.control import BREAK, CONTINUE, RETURN, Flow, Frame, Meeting, Plain, Waiter
from isogrid.backends.interp.expressions import Expressions
from isogrid.backends.interp.failures import failure
from isogrid.backends.interp.layout import Layout
from isogrid.backends.interp.memory import element_count, zero
from isogrid.builtins import conversions
from isogrid.builtins.atomics import ATOMICS
from isogrid.builtins.meaning import Trapped
from isogrid.ir import kernel as k
from isogrid.ir import sites
from isogrid.ir.walk import visit_statements
from isogrid.support.errors import CompilerBug


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
        self._flow = Flow(layout)

    def block(self, block: k.Block) -> Plain:
        """A block without barriers."""
        return control.sequence(tuple(self._statement(s) for s in block))

    def meeting_block(self, block: k.Block) -> Waiter:
        """A block that may hold barriers: runs of statements without, and between them what threads wait in."""
        return control.meeting_sequence(
            block, self._flow.trips(), self.block, lambda node: self._meeting(node) if meets(node) else None
        )

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
                condition, then = self._compile(node.condition), self.block(node.then)
                return control.choice(condition, then, self.block(node.otherwise) if node.otherwise else None)
            case k.For():
                values, counter = self._range(node), self._layout.place("local", node.counter)
                return control.counted_loop(values, counter, self.block(node.body))
            case k.While():
                prelude, condition = self.block(node.prelude), self._compile(node.condition)
                return control.while_loop(prelude, condition, self.block(node.body))
            case k.Scope():
                return control.scope(self._flow.label(node.label), self.block(node.body))
            case k.Leave():
                label = self._flow.label(node.label)
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

    def _range(self, node: k.For) -> Callable[[Frame], range]:
        start, stop, step = self._compile(node.start), self._compile(node.stop), self._compile(node.step)
        fail = failure(sites.step_site(node), node.step_checked)

        def trips(frame: Frame) -> range:
            first = start(frame)
            end = stop(frame)
            by = step(frame)
            return range(first, end, by) if by else fail(by)

        return trips

    # --- statements in which threads meet ---------------------------------------------------------------------------

    def _meeting(self, node: k.Statement) -> Waiter | Meeting:
        match node:
            case k.Barrier() | k.WarpBarrier():
                return Meeting(node.span, of_warp=isinstance(node, k.WarpBarrier))
            case k.Collective() | k.WarpCollective():
                return self._collective(node)
            case k.If():
                condition = self._compile(node.condition)
                return control.meeting_choice(
                    condition, self.meeting_block(node.then), self.meeting_block(node.otherwise)
                )
            case k.For():
                values, counter = self._range(node), self._layout.place("local", node.counter)
                with self._flow.counting() as count:
                    body = self.meeting_block(node.body)
                return control.meeting_counted_loop(values, counter, count, body)
            case k.While():
                with self._flow.counting() as count:
                    prelude = self.meeting_block(node.prelude) if node.prelude else None
                    condition, body = self._compile(node.condition), self.meeting_block(node.body)
                return control.meeting_while_loop(prelude, condition, count, body)
            case k.Scope():
                return control.meeting_scope(self._flow.label(node.label), self.meeting_block(node.body))
            case _:
                raise CompilerBug(f"no barrier can stand inside {type(node).__name__}")

    def _collective(self, node: k.Collective | k.WarpCollective) -> Waiter:
        site = sites.collective_site(node) if node.total_checked else None
        of_warp = isinstance(node, k.WarpCollective)
        meeting = Meeting(node.span, node.op, node.type, node.exclusive, site, of_warp)
        lane = self._compile(node.lane) if isinstance(node, k.WarpCollective) and node.lane is not None else None
        value, target = self._compile(node.value), self._layout.place("local", node.target)
        return control.collective(meeting, self._flow.trips(), value, target, lane)


def _written(value: Any, node: k.Atomic) -> Any:
    if value is None:
        raise CompilerBug(f"an element of `{node.array}` was proved written and is updated before, at {node.span}")
    return value
