"""Compile subscripts: evaluate the indices, check them axis by axis, find the flat element; and loads through them."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any, TypeAlias

from isogrid.backends.interp.failures import Fail, failure
from isogrid.backends.interp.layout import WHO, ArrayFacts, Layout
from isogrid.builtins import conversions
from isogrid.ir import kernel as k
from isogrid.ir import sites
from isogrid.ir.types import Scalar
from isogrid.support.errors import CompilerBug

Frame: TypeAlias = list[Any]
Evaluator: TypeAlias = Callable[[Frame], Any]
#: Tells the detectors about an access: `(frame, element)`.
Note: TypeAlias = Callable[[Frame, int], None]


class Subscripts:
    """Compiles the accesses of one kernel; `compile` is that of its expressions."""

    def __init__(self, layout: Layout, races: bool, compile: Callable[[k.Expr], Evaluator]) -> None:
        self._layout = layout
        self._races = races
        self._compile = compile

    def memory(self, array: str) -> int:
        """The frame place of an array's elements."""
        return self._layout.place("memory", array)

    def facts(self, array: str) -> ArrayFacts:
        return self._layout.arrays[array]

    def element(self, node: k.Load | k.Store | k.Atomic) -> Evaluator:
        """A closure that evaluates the indices, then checks them from axis 0, and gives the element in C order."""
        indices = tuple(self._compile(index) for index in node.indices)
        fails = tuple(failure(sites.index_site(node, axis), checked) for axis, checked in enumerate(node.checked))
        extents = tuple(self._extent(node.array, axis) for axis in range(len(indices)))
        if len(indices) == 1:
            return _element_1(indices[0], extents[0], fails[0])
        if len(indices) == 2:
            return _element_2(*indices, *extents, *fails)
        return _element_n(indices, extents, fails)

    def _extent(self, array: str, axis: int) -> Evaluator:
        shape = self.facts(array).shape
        if shape is None:
            return itemgetter(self._layout.extent(array, axis))
        extent = shape[axis]
        return lambda frame: extent

    def note(self, node: k.Load | k.Store | k.Atomic, kind: str) -> Note | None:
        """What the detectors want to know of this access, or None."""
        facts = self.facts(node.array)
        notes: list[Note] = []
        if kind != "atomic_add" and self._layout.notes_plain(node.array):
            totals = self._layout.place("totals", node.array)
            notes.append(lambda frame, element: frame[totals].touched.add(element))
        if self._races and facts.may_race:
            shadow, span = self._layout.place("shadow", node.array), node.span
            notes.append(lambda frame, element: frame[shadow].touch(element, kind, span, frame[WHO]))
        if len(notes) < 2:
            return notes[0] if notes else None
        first, second = notes

        def both(frame: Frame, element: int) -> None:
            first(frame, element)
            second(frame, element)

        return both

    def load(self, node: k.Load) -> Evaluator:
        """A closure that gives an element, widened to its computing type."""
        element, note = self.element(node), self.note(node, "read")
        memory, facts = self.memory(node.array), self.facts(node.array)
        element_type = facts.element
        half = element_type is Scalar.F16
        if note is None and not half and not facts.unwritten:
            return lambda frame: frame[memory][element(frame)]

        def run(frame: Frame) -> Any:
            at = element(frame)
            if note is not None:
                note(frame, at)
            value = frame[memory][at]
            if value is None:
                raise CompilerBug(
                    f"element {at} of `{node.array}` was proved written and is read before, at {node.span}"
                )
            return conversions.widen(element_type, value) if half else value

        return run


def _element_1(index: Evaluator, extent: Evaluator, fail: Fail) -> Evaluator:
    def run(frame: Frame) -> int:
        i = index(frame)
        n = extent(frame)
        return i if 0 <= i < n else fail(i, n)

    return run


def _element_2(
    index0: Evaluator, index1: Evaluator, extent0: Evaluator, extent1: Evaluator, fail0: Fail, fail1: Fail
) -> Evaluator:
    def run(frame: Frame) -> int:
        i = index0(frame)
        j = index1(frame)
        rows = extent0(frame)
        columns = extent1(frame)
        if not 0 <= i < rows:
            fail0(i, rows)
        return i * columns + j if 0 <= j < columns else fail1(j, columns)

    return run


def _element_n(indices: tuple[Evaluator, ...], extents: tuple[Evaluator, ...], fails: tuple[Fail, ...]) -> Evaluator:
    def run(frame: Frame) -> int:
        element = 0
        for i, extent, fail in zip([index(frame) for index in indices], extents, fails, strict=True):
            n = extent(frame)
            if not 0 <= i < n:
                fail(i, n)
            element = element * n + i
        return element

    return run
