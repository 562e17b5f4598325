"""The quick call of a function that is one reducing loop between scalar statements: native callables and little else.

Whatever it does not like, before anything has changed, it leaves to the ordinary call.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isogrid.backends.plan import PartPlan, ReducingCall, TotalPlan
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX
from isogrid.launch.evaluate import CannotEvaluate, evaluate
from isogrid.launch.kernel_value import Kernel
from isogrid.launch.native import whole_callable
from isogrid.offloading.conclusion import Conclusion, Getter, assignments, getter
from isogrid.offloading.execute import (
    FEW_ELEMENTS,
    MANY_UPDATES,
    SMALL,
    Executor,
    Ready,
    argument,
    as_declared,
    is_scalar,
    native_of,
)
from isogrid.offloading.far_call import AGAIN, MOST_BLOCKS, far_call
from isogrid.offloading.kernels import BLOCKS
from isogrid.offloading.placement import is_far, new_partials
from isogrid.offloading.ranges import scalars_for_locals
from isogrid.offloading.rule3_names import Reduction
from isogrid.offloading.sections import Section
from isogrid.offloading.tree import BLOCK, Part, parts_of
from isogrid.offloading.trips import trips_of
from isogrid.support.records import dataclass


def quick_call(executor: Executor, slow: Callable[..., Any]) -> Callable[..., Any] | None:
    """A callable like the function that has just run, or None where its shape has no quick form."""
    sections = executor.plan.sections
    at = next((n for n, s in enumerate(sections) if s.accepted is not None), None)
    if at is None or any(s.accepted is not None for s in sections[at + 1 :]):
        return None
    before, loop, after = sections[:at], sections[at], sections[at + 1 :]
    constants = _constants(before)
    if constants is None or not all(assigns(s) for s in after):
        return None
    return _reducing_call(executor, loop, constants, after, slow)


def gathering_call(
    executor: Executor, native: Callable[..., Any] | None, slow: Callable[..., Any]
) -> Callable[..., Any]:
    """The quick call of one loop that adds into few elements: few iterations go straight to the `native` atomic kernel,
    if it has run, many to the one that was compiled for the sizes at hand, once there is one."""
    (section,) = executor.plan.sections
    trips = getter(executor, trips_of(section.loop))
    names = sorted(set(executor.gathered(section)))
    sizes = [getter(executor, k.DimValue(name)) for name in names]
    known: dict[tuple[int, ...], Any] = {}
    small = None
    if native is not None and not is_far(executor.where):
        ready = executor.kernels[("parallel", id(section), True)]
        small = native_of(executor, ready.kernel, MANY_UPDATES - 1)

    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            many = trips is None or trips(arguments) >= MANY_UPDATES
            at = tuple([size(arguments) for size in sizes if size is not None])
            quick = native if not many or max(at) > FEW_ELEMENTS else known.get(at)
        except (AttributeError, IndexError, TypeError, ValueError):
            return slow(*arguments, **keywords)
        if keywords or quick is None or quick(*arguments) is not None:
            result = slow(*arguments, **keywords)
            gathering = executor.kernels.get(("gathering", id(section), *zip(names, at, strict=False)))
            if gathering is not None and at not in known:
                found = native_of(executor, gathering.kernel)
                known[at] = native if found is None else found[0]
            return result
        return None

    return call if small is None else whole_callable(small[1], small[0], call)


def _reducing_call(
    executor: Executor, loop: Section, constants: dict[str, Any], after: Sequence[Section], slow: Callable[..., Any]
) -> Callable[..., Any] | None:
    reducing = reducing_loop(executor, loop, constants)
    blocks = getter(executor, trips_of(loop.loop))
    if reducing is None or blocks is None:
        return None
    conclusion = Conclusion(executor, reducing.reductions, constants, assignments(after))
    native = native_of(executor, reducing.ready.kernel)
    if native is None or _may_fail_late(loop, conclusion):
        return None
    finish = conclusion.plain_finish(reducing.parts) or conclusion.finish(reducing.parts)
    if is_far(executor.where):
        return far_call(
            executor.where, native[0], blocks, reducing.types, reducing.scalars or (), reducing.folds, finish, slow
        )
    return _native(reducing, native[1], conclusion, slow) or _callable(reducing, native[0], blocks, finish, slow)


@dataclass(frozen=True, slots=True)
class ReducingLoop:
    """A reducing loop that has run, on one device: its kernel, the values of the scalars that it takes beyond the
    function's own, or None where each call gives them behind its arguments, and the kernels that fold its parts."""

    executor: Executor
    loop: Section
    ready: Ready
    constants: dict[str, Any]
    scalars: list[Any] | None
    reductions: dict[str, Reduction]
    parts: list[Part]
    folds: list[Kernel]

    @property
    def types(self) -> list[Any]:
        """The dtypes of the arrays that take one value per block."""
        return [type.numpy for _, type in self.ready.program.arrays]

    @property
    def fixed(self) -> bool:
        """Whether the scalars are constants that code for small launches takes; others are judged at each call."""
        numbers = [v for v in self.scalars or () if isinstance(v, int)]
        return self.scalars is not None and all(abs(v) < SMALL for v in numbers)

    def plan(self, slow: Callable[..., Any]) -> ReducingCall:
        """The call in machine code that gives a tuple of all totals."""
        program, own = self.ready.program, self.executor.definition
        constant = zip(program.scalars, self.scalars or (), strict=True) if self.fixed else ()
        if not self.fixed:
            own = replace(own, parameters=program.definition.parameters[: len(own.parameters) + len(program.scalars)])
        places = {part.name: place for place, part in enumerate(self.parts)}
        return ReducingCall(
            definition=own,
            specialisation=self.executor.specialisation,
            scalars=tuple((local.name, local.type, v) for local, v in constant),
            blocks_name=BLOCKS,
            blocks=_blocks(trips_of(self.loop.loop)),
            parts=tuple(
                PartPlan(array, part.type, artifact_of(fold), "values.in", "blocks.out")
                for (array, _), part, fold in zip(self.ready.program.arrays, self.parts, self.folds, strict=True)
            ),
            totals=tuple(self._total(reduction, places) for reduction in self.reductions.values()),
            outputs=tuple(range(len(self.reductions))),
            gives_tuple=True,
            finish=None,
            slow=slow,
            again=AGAIN,
        )

    def _total(self, reduction: Reduction, places: dict[str, int]) -> TotalPlan:
        parts = parts_of(reduction)
        exact = not (len(parts) == 1 and parts[0].of == "value")
        start = argument(reduction.type, self.constants[reduction.name])
        return TotalPlan(reduction.op, reduction.type, start, exact, tuple(places[part.name] for part in parts))


def reducing_loop(
    executor: Executor, loop: Section, constants: dict[str, Any], given: Container[str] = ()
) -> ReducingLoop | None:
    """The loop, if it reduces, has run, and takes constants alone, or also locals that each call has `given`."""
    accepted, ready = loop.accepted, executor.kernels.get(("parallel", id(loop), True))
    if ready is None or accepted is None or not accepted.reductions or executor.specialisation.absent:
        return None
    scalars = known_scalars(ready, constants)
    unknown = {local.name for local in ready.program.scalars} - set(constants)
    if not all(name in given for name in unknown) or not set(accepted.reductions) <= set(constants):
        return None
    parts = [part for reduction in accepted.reductions.values() for part in parts_of(reduction)]
    folds = [_fold(executor, part) for part in parts]
    return ReducingLoop(executor, loop, ready, constants, scalars, accepted.reductions, parts, folds)


def known_scalars(ready: Ready, constants: dict[str, Any]) -> list[Any] | None:
    """What a kernel takes beyond the function's own arguments; None where that is not constant."""
    given = [constants.get(local.name) for local in ready.program.scalars]
    if None in given:
        return None
    return [argument(local.type, v) for local, v in zip(ready.program.scalars, given, strict=True)]


def _fold(executor: Executor, part: Part) -> Kernel:
    ready = executor.fold(part)
    if not ready.kernel.compiled.artifacts:
        fold: Any = ready.kernel
        fold(*new_partials(executor.where, 2, [part.type]), *new_partials(executor.where, 1, [part.type]))
    return ready.kernel


def _callable(
    reducing: ReducingLoop, native: Any, trips: Getter, finish: Callable[..., Any], slow: Callable[..., Any]
) -> Callable[..., Any]:
    empty, scalars, types = np.empty, reducing.scalars or (), reducing.types
    folds: list[Any] = list(reducing.folds)

    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            blocks = -(-trips(arguments) // BLOCK)
        except (AttributeError, IndexError, TypeError):
            return slow(*arguments, **keywords)
        if keywords or not 0 < blocks < MOST_BLOCKS:
            return slow(*arguments, **keywords)
        partials = [empty(blocks, type) for type in types]
        if native(*arguments, *scalars, *partials) is not None:
            return slow(*arguments, **keywords)
        folded: list[Any] = []
        for values, fold in zip(partials, folds, strict=True):
            while values.size > 1:
                level = empty((values.size + BLOCK - 1) // BLOCK, values.dtype)
                fold(values, level)
                values = level
            folded.append(values[0])
        result = finish(arguments, folded)
        return slow(*arguments) if result is AGAIN else result

    return call


def _native(
    reducing: ReducingLoop, runtime: Any, conclusion: Conclusion, slow: Callable[..., Any]
) -> Callable[..., Any] | None:
    """The call in machine code, on devices that have one."""
    make = getattr(runtime, "native_reduction", None)
    if make is None or not reducing.fixed:
        return None
    names, returned = list(reducing.reductions), conclusion.returned_totals()
    plan = replace(
        reducing.plan(slow),
        outputs=tuple(names.index(name) for name in returned or ()),
        gives_tuple=reducing.executor.plan.returns_tuple,
        finish=None if returned is not None else conclusion.from_totals(),
    )
    program = as_declared(reducing.ready.program.kernel, reducing.executor.base)
    return make(artifact_of(reducing.ready.kernel), program, plan)


def _may_fail_late(loop: Section, conclusion: Conclusion) -> bool:
    """Whether the call may end with an error after the loop has changed arrays, which then must be restored."""
    accepted = loop.accepted
    if accepted is None or not accepted.written:
        return False
    return conclusion.may_trap() or any(r.type.is_checked for r in accepted.reductions.values())


def _constants(sections: Sequence[Section]) -> dict[str, Any] | None:
    """Values of scalar statements that depend on nothing."""
    found: dict[str, Any] = {}
    for section in sections:
        for statement in section.statements:
            if not isinstance(statement, k.Assign) or not is_scalar(statement.value):
                return None
            try:
                found[statement.name] = evaluate(scalars_for_locals(statement.value), found, {})
            except (CannotEvaluate, KeyError):
                return None
    return found


def _blocks(trips: k.Expr) -> k.Expr:
    """How many blocks hold so many iterations."""
    up = k.Binary("add", trips, k.Const(BLOCK - 1, INDEX), INDEX)
    return k.Binary("floordiv", up, k.Const(BLOCK, INDEX), INDEX)


def artifact_of(kernel: Kernel) -> Any:
    """What a kernel that has run once was compiled to."""
    (artifact, *_) = list(kernel.compiled.artifacts.values())
    return artifact


def assigns(section: Section) -> bool:
    return all(isinstance(s, k.Assign) and is_scalar(s.value) for s in section.statements)
