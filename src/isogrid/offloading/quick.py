"""The quick call of a function that is one reducing loop between scalar statements: native callables and little else.

Whatever it does not like, before anything has changed, it leaves to the ordinary call.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from isogrid.backends.plan import PartPlan, ReducingCall, TotalPlan
from isogrid.frontend.definition import ArrayDeclaration
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Scalar
from isogrid.ir.walk import visit
from isogrid.launch.evaluate import CannotEvaluate, evaluate
from isogrid.launch.kernel_value import Kernel
from isogrid.launch.native import whole_callable
from isogrid.launch.scalars import scalar_argument
from isogrid.offloading.execute import (
    FEW_ELEMENTS,
    MANY_UPDATES,
    Executor,
    Ready,
    argument,
    host_value,
    is_scalar,
    native_of,
)
from isogrid.offloading.far_call import AGAIN, MOST_BLOCKS, far_call
from isogrid.offloading.host_floats import GLOBALS, compile_scalar, rounded, scalar_source
from isogrid.offloading.kernels import BLOCKS
from isogrid.offloading.placement import is_far, new_partials
from isogrid.offloading.ranges import scalars_for_locals
from isogrid.offloading.rule3_names import Reduction
from isogrid.offloading.sections import Section
from isogrid.offloading.totals import finished
from isogrid.offloading.tree import BLOCK, Part, parts_of
from isogrid.offloading.trips import trips_of

#: A number of a call, from its arguments.
Getter: TypeAlias = Callable[[Sequence[Any]], int]


def quick_call(executor: Executor, slow: Callable[..., Any]) -> Callable[..., Any] | None:
    """A callable like the function that has just run, or None where its shape has no quick form."""
    sections = executor.plan.sections
    at = next((n for n, s in enumerate(sections) if s.accepted is not None), None)
    if at is None or any(s.accepted is not None for s in sections[at + 1 :]):
        return None
    before, loop, after = sections[:at], sections[at], sections[at + 1 :]
    constants = _constants(before)
    if constants is None or not all(_assigns(s) for s in after):
        return None
    return Maker(executor, loop, constants, after, slow).call()


def gathering_call(executor: Executor, native: Callable[..., Any], slow: Callable[..., Any]) -> Callable[..., Any]:
    """The quick call of one loop that adds into few elements: few iterations go straight to the atomic kernel, many to
    the one that was compiled for the sizes at hand, once there is one."""
    (section,) = executor.plan.sections
    trips = _getter(executor, trips_of(section.loop))
    names = sorted(set(executor.gathered(section)))
    sizes = [_getter(executor, k.DimValue(name)) for name in names]
    known: dict[tuple[int, ...], Any] = {}
    ready = executor.kernels[("parallel", id(section), True)]
    small = None if is_far(executor.where) else native_of(ready.kernel, executor.specialisation, MANY_UPDATES - 1)

    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            many = trips is None or trips(arguments) >= MANY_UPDATES
            at = tuple([size(arguments) for size in sizes if size is not None])
        except (AttributeError, IndexError, TypeError):
            return slow(*arguments, **keywords)
        quick = native if not many or max(at) > FEW_ELEMENTS else known.get(at)
        if keywords or quick is None or quick(*arguments) is not None:
            result = slow(*arguments, **keywords)
            gathering = executor.kernels.get(("gathering", id(section), *zip(names, at, strict=False)))
            if gathering is not None and at not in known:
                found = native_of(gathering.kernel, executor.specialisation)
                known[at] = native if found is None else found[0]
            return result
        return None

    return call if small is None else whole_callable(small[1], small[0], call)


class Maker:
    def __init__(
        self,
        executor: Executor,
        loop: Section,
        constants: dict[str, Any],
        after: Sequence[Section],
        slow: Callable[..., Any],
    ) -> None:
        self.executor: Final = executor
        self.loop: Final = loop
        self.constants: Final = constants
        self.after: Final = after
        self.slow: Final = slow

    def call(self) -> Callable[..., Any] | None:
        executor, loop = self.executor, self.loop
        assert loop.accepted is not None
        ready = executor.kernels.get(("parallel", id(loop), True))
        blocks = _getter(executor, trips_of(loop.loop))
        absent = executor.specialisation.absent
        if absent or ready is None or blocks is None or not loop.accepted.reductions:
            return None
        native = native_of(ready.kernel, executor.specialisation)
        parts = [part for r in loop.accepted.reductions.values() for part in parts_of(r)]
        folds = [self._fold(part) for part in parts]
        given = [self.constants.get(local.name) for local in ready.program.scalars]
        starts = set(loop.accepted.reductions) <= set(self.constants)
        if native is None or None in given or not starts or self._may_fail_late():
            return None
        scalars = [argument(local.type, v) for local, v in zip(ready.program.scalars, given, strict=True)]
        types = [type.numpy for _, type in ready.program.arrays]
        if is_far(executor.where):
            finish = self._plain_finish(parts) or self._finish(parts)
            return far_call(executor.where, native[0], blocks, types, scalars, folds, finish, self.slow)
        whole = self._native(ready, native[1], scalars, parts, folds)
        return whole or self._callable(native[0], blocks, types, scalars, parts, folds)

    def _fold(self, part: Part) -> Any:
        ready = self.executor.fold(part)
        if not ready.kernel.compiled.artifacts:
            fold: Any = ready.kernel
            fold(*new_partials(self.executor.where, 2, [part.type]), *new_partials(self.executor.where, 1, [part.type]))
        return ready.kernel

    def _callable(
        self, native: Any, trips: Getter, types: list[Any], scalars: list[Any], parts: list[Part], folds: list[Any]
    ) -> Callable[..., Any]:
        slow, finish, empty = self.slow, self._plain_finish(parts) or self._finish(parts), np.empty

        def call(*arguments: Any, **keywords: Any) -> Any:
            try:
                blocks = (trips(arguments) + BLOCK - 1) // BLOCK
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
        self, ready: Ready, runtime: Any, scalars: list[Any], parts: list[Part], folds: list[Any]
    ) -> Callable[..., Any] | None:
        """The call in machine code, on devices that have one."""
        accepted, executor = self.loop.accepted, self.executor
        make = getattr(runtime, "native_reduction", None)
        if make is None or accepted is None:
            return None
        names, given, returned = list(accepted.reductions), ready.program.scalars, self._returned_totals()
        places = {part.name: place for place, part in enumerate(parts)}
        plan = ReducingCall(
            definition=executor.definition,
            specialisation=executor.specialisation,
            scalars=tuple((local.name, local.type, v) for local, v in zip(given, scalars, strict=True)),
            blocks_name=BLOCKS,
            blocks=_blocks(trips_of(self.loop.loop)),
            parts=tuple(
                PartPlan(array, part.type, _artifact_of(fold), "values.in", "blocks.out")
                for (array, _), part, fold in zip(ready.program.arrays, parts, folds, strict=True)
            ),
            totals=tuple(self._total(reduction, places) for reduction in accepted.reductions.values()),
            outputs=tuple(names.index(name) for name in returned or ()),
            gives_tuple=executor.plan.returns_tuple,
            finish=None if returned is not None else self._conclusion(),
            slow=self.slow,
            again=AGAIN,
        )
        return make(_artifact_of(ready.kernel), ready.program.kernel, plan)

    def _total(self, reduction: Reduction, places: dict[str, int]) -> TotalPlan:
        parts = parts_of(reduction)
        exact = not (len(parts) == 1 and parts[0].of == "value")
        start = argument(reduction.type, self.constants[reduction.name])
        return TotalPlan(reduction.op, reduction.type, start, exact, tuple(places[part.name] for part in parts))

    def _returned_totals(self) -> list[str] | None:
        """The totals that are returned as they are, None where something else is."""
        assert self.loop.accepted is not None
        means = {name: name for name in self.loop.accepted.reductions}
        for name, value in self._statements():
            if not isinstance(value, k.ScalarValue) or value.name not in means:
                return None
            means[name] = means[value.name]
        results = [local.name for local in self.executor.plan.results]
        return [means[name] for name in results] if set(results) <= set(means) else None

    def _conclusion(self) -> Callable[..., Any]:
        """From totals, as Python numbers, and the tuple of arguments to what is returned."""
        accepted = self.loop.accepted
        assert accepted is not None
        general, constants = self._concluding(), self.constants
        types = [(name, reduction.type) for name, reduction in accepted.reductions.items()]

        def conclude(*given: Any) -> Any:
            *totals, arguments = given
            numbers = [(n, t.numpy.type(v) if t.is_float else v) for (n, t), v in zip(types, totals, strict=True)]
            return general(arguments, constants | dict(numbers))

        return self._written_out(conclude) or conclude

    def _written_out(self, general: Callable[..., Any]) -> Callable[..., Any] | None:
        """The same as a Python function of its own for these statements, None where they are not plain float
        arithmetic; `general` does what plain numbers cannot say."""
        accepted, others = self.loop.accepted, self._given()
        assert accepted is not None
        if others is None:
            return None
        names = {name: f"total_{place}" for place, name in enumerate(accepted.reductions)}
        parameters = ", ".join([*names.values(), "arguments"])
        values: dict[str, Any] = {**GLOBALS, "general": general, "Odd": (ZeroDivisionError, OverflowError)}
        lines: list[str] = []
        for place, (name, value) in enumerate(self.constants.items()):
            if name not in names:
                names[name] = f"constant_{place}"
                values[names[name]] = value if isinstance(value, int) else float(value)
        for place, (name, get) in enumerate(others):
            names[name] = f"given_{place}"
            values[f"get_{place}"] = get
            lines.append(f"given_{place} = get_{place}(arguments)")
        for place, (name, expression) in enumerate(self._statements()):
            source = scalar_source(expression, names)
            if source is None:
                return None
            names[name] = f"local_{place}"
            lines.append(f"local_{place} = {source}")
        results = [names.get(local.name) for local in self.executor.plan.results]
        if None in results:
            return None
        found = f"({', '.join(map(str, results))},)" if self.executor.plan.returns_tuple else [*results, None][0]
        body = "".join(f"        {line}\n" for line in lines)
        text = f"def conclude({parameters}):\n    try:\n{body}        return {found}\n    except Odd:\n"
        exec(text + f"        return general({parameters})\n", values)
        return values["conclude"]

    def _plain_finish(self, parts: list[Part]) -> Callable[[Sequence[Any], list[Any]], Any] | None:
        """As `_finish`, for float sums and products and float arithmetic after them."""
        executor, accepted = self.executor, self.loop.accepted
        assert accepted is not None
        if any(p.op not in ("add", "mul") or not p.type.is_float or p.of != "value" for p in parts):
            return None
        statements = [(name, compile_scalar(value)) for name, value in self._statements()]
        used = {n.name for _, e in self._statements() for n in visit(e) if isinstance(n, k.ScalarValue | k.DimValue)}
        known = {*accepted.reductions, *self.constants, *(name for name, _ in statements)}
        if not used <= known or any(value is None for _, value in statements):
            return None
        starts = {name: float(v) if not isinstance(v, int) else v for name, v in self.constants.items()}
        names = [local.name for local in executor.plan.results]
        is_tuple, general = executor.plan.returns_tuple, self._finish(parts)

        def finish(arguments: Sequence[Any], folded: list[Any]) -> Any:
            values = dict(starts)
            for part, value in zip(parts, folded, strict=True):
                start = starts[part.name]
                total = start + value.item() if part.op == "add" else start * value.item()
                values[part.name] = rounded(part.type, total)
            try:
                for name, compute in statements:
                    assert compute is not None
                    values[name] = compute(values)
            except (ZeroDivisionError, OverflowError):
                return general(arguments, folded)
            if is_tuple:
                return tuple([values[name] for name in names])
            return values[names[0]] if names else None

        return finish

    def _finish(self, parts: list[Part]) -> Callable[[Sequence[Any], list[Any]], Any]:
        """From folded parts to what is returned."""
        accepted, name = self.loop.accepted, self.executor.definition.name
        assert accepted is not None
        starts, conclude = self.constants, self._concluding()
        of = {name: parts_of(reduction) for name, reduction in accepted.reductions.items()}

        def finish(arguments: Sequence[Any], folded: list[Any]) -> Any:
            by_part = {part.name: host_value(part.type, v) for part, v in zip(parts, folded, strict=True)}
            totals = {n: finished(name, r, starts[n], by_part, of[n]) for n, r in accepted.reductions.items()}
            return conclude(arguments, starts | totals)

        return finish

    def _concluding(self) -> Callable[[Sequence[Any], dict[str, Any]], Any]:
        """From the scalars behind the loop, as launches take them, to what is returned."""
        executor = self.executor
        definition, statements = executor.definition, self._statements()
        names, is_tuple = [local.name for local in executor.plan.results], executor.plan.returns_tuple
        used = self._used()
        scalars = [(n, p) for n, p in enumerate(executor.base.parameters) if isinstance(p, k.ScalarParameter)]
        scalars = [(n, p) for n, p in scalars if p.name in used]
        sizes = [(name, _getter(executor, k.DimValue(name))) for name in executor.base.dims if name in used]

        def conclude(arguments: Sequence[Any], values: dict[str, Any]) -> Any:
            for at, parameter in scalars:
                values[parameter.name] = scalar_argument(definition.name, parameter.name, parameter.type, arguments[at])
            dims = {name: get(arguments) for name, get in sizes if get is not None}
            try:
                for name, expression in statements:
                    values[name] = evaluate(expression, values, dims)
            except CannotEvaluate:
                return AGAIN
            found = tuple(v if isinstance(v, bool | int) else float(v) for v in (values[n] for n in names))
            return found if is_tuple else found[0] if found else None

        return conclude

    def _used(self) -> set[str]:
        """Names of scalars and sizes that the statements behind the loop read."""
        nodes = [node for _, expression in self._statements() for node in visit(expression)]
        return {node.name for node in nodes if isinstance(node, k.ScalarValue | k.DimValue)}

    def _given(self) -> list[tuple[str, Callable[[Sequence[Any]], Any]]] | None:
        """How the statements behind the loop get what the arguments say, as plain Python numbers; None where that is
        not plain."""
        accepted, executor = self.loop.accepted, self.executor
        assert accepted is not None
        made = {*accepted.reductions, *self.constants, *(name for name, _ in self._statements())}
        types = {p.name: p.type for p in executor.base.parameters if isinstance(p, k.ScalarParameter)}
        found: list[tuple[str, Callable[[Sequence[Any]], Any]]] = []
        for name in sorted(self._used() - made):
            type = types.get(name)
            node = k.DimValue(name) if type is None else k.ScalarValue(name, type)
            get = _getter(executor, node)
            if get is None or type is Scalar.F32:
                return None
            found.append((name, get))
        return found

    def _statements(self) -> list[tuple[str, k.Expr]]:
        return [
            (s.name, scalars_for_locals(s.value)) for a in self.after for s in a.statements if isinstance(s, k.Assign)
        ]

    def _may_fail_late(self) -> bool:
        """Whether the call may end with an error after the loop has changed arrays, which then must be restored."""
        accepted = self.loop.accepted
        assert accepted is not None
        if not accepted.written:
            return False
        nodes = [node for _, expression in self._statements() for node in visit(expression)]
        late = any(isinstance(n, k.Binary | k.Unary | k.Cast) and n.checked for n in nodes)
        return late or any(r.type.is_checked for r in accepted.reductions.values())


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


def _artifact_of(kernel: Kernel) -> Any:
    """What a kernel that has run once was compiled to."""
    (artifact, *_) = kernel.compiled.artifacts.values()
    return artifact


def _assigns(section: Section) -> bool:
    return all(isinstance(s, k.Assign) and is_scalar(s.value) for s in section.statements)


def _getter(executor: Executor, node: k.Expr) -> Getter | None:
    """How to get the value of a host expression from the arguments of a call."""
    match node:
        case k.Const(value=value):
            return lambda arguments: value
        case k.DimValue(name=name):
            for at, parameter in enumerate(executor.definition.parameters):
                if isinstance(parameter, ArrayDeclaration):
                    for axis, extent in enumerate(parameter.shape):
                        # Only arrays of the host have `size` in every library.
                        if extent == k.DimValue(name) and len(parameter.shape) == 1 and not is_far(executor.where):
                            return lambda arguments, at=at: arguments[at].size
                        if extent == k.DimValue(name):
                            return lambda arguments, at=at, axis=axis: arguments[at].shape[axis]
            return None
        case k.ScalarValue(name=name):
            for at, parameter in enumerate(executor.definition.parameters):
                if parameter.name == name:
                    return lambda arguments, at=at: arguments[at]
            return None
        case k.Cast(value=value) if value.type.is_checked:
            return _getter(executor, value)
        case k.Binary(op=("add" | "sub" | "mul" | "floordiv") as op, left=left, right=right):
            first, second = _getter(executor, left), _getter(executor, right)
            return None if first is None or second is None else _operation(op, first, second)
        case _:
            return None


def _operation(op: str, first: Getter, second: Getter) -> Getter:
    match op:
        case "add":
            return lambda arguments: first(arguments) + second(arguments)
        case "sub":
            return lambda arguments: first(arguments) - second(arguments)
        case "mul":
            return lambda arguments: first(arguments) * second(arguments)
        case _:
            return lambda arguments: first(arguments) // second(arguments)
