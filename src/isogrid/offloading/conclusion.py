"""What a call gives back once its loops have run: the scalar statements behind them, as Python on plain numbers."""

from collections.abc import Callable, Container, Mapping, Sequence
from operator import index
from typing import Any, Final, TypeAlias

from isogrid.frontend.definition import ArrayDeclaration
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.ir.walk import visit
from isogrid.launch.evaluate import CannotEvaluate, evaluate
from isogrid.launch.scalars import scalar_argument
from isogrid.offloading.execute import Executor, host_value
from isogrid.offloading.far_call import AGAIN
from isogrid.offloading.host_floats import GLOBALS, compile_scalar, rounded, scalar_source
from isogrid.offloading.placement import is_far
from isogrid.offloading.ranges import scalars_for_locals
from isogrid.offloading.rule3_names import Reduction
from isogrid.offloading.sections import Section
from isogrid.offloading.totals import finished
from isogrid.offloading.tree import Part, parts_of
from isogrid.support.records import dataclass

#: What makes Python's own number of an argument, which may be a scalar of NumPy, or an integer that stands for a float.
_PLAIN: Final = {Scalar.F32: "argument", Scalar.F64: "float", Scalar.BOOL: "bool"}

#: A number of a call, from its arguments.
Getter: TypeAlias = Callable[[Sequence[Any]], int]


@dataclass(frozen=True, slots=True)
class Conclusion:
    """`statements` are the assignments behind the loops that reduce; `constants` are known before the call."""

    executor: Executor
    reductions: Mapping[str, Reduction]
    constants: dict[str, Any]
    statements: Sequence[tuple[str, k.Expr]]

    def may_trap(self) -> bool:
        """Whether a statement may end the call with an error."""
        return any(may_trap(expression) for _, expression in self.statements)

    def returned_totals(self) -> list[str] | None:
        """The totals that are returned as they are, None where something else is."""
        means = {name: name for name in self.reductions}
        for name, value in self.statements:
            if not isinstance(value, k.ScalarValue) or value.name not in means:
                return None
            means[name] = means[value.name]
        results = [local.name for local in self.executor.plan.results]
        return [means[name] for name in results] if set(results) <= set(means) else None

    def from_totals(self) -> Callable[..., Any]:
        """From totals, as Python numbers, and the tuple of arguments to what is returned."""
        general, constants = self._general(), self.constants
        types = [(name, reduction.type) for name, reduction in self.reductions.items()]

        def conclude(*given: Any) -> Any:
            *totals, arguments = given
            numbers = [(n, t.numpy.type(v) if t.is_float else v) for (n, t), v in zip(types, totals, strict=True)]
            return general(arguments, constants | dict(numbers))

        return self._written_out(conclude) or conclude

    def _written_out(self, general: Callable[..., Any]) -> Callable[..., Any] | None:
        """The same as a Python function of its own for these statements, None where they are not plain float
        arithmetic; `general` does what plain numbers cannot say."""
        names = {name: f"total_{place}" for place, name in enumerate(self.reductions)}
        parameters = ", ".join([*names.values(), "arguments"])
        values: dict[str, Any] = {**GLOBALS, "general": general, "Odd": (ZeroDivisionError, OverflowError)}
        lines = self.written_out(names, values)
        if lines is None:
            return None
        results = [names.get(local.name) for local in self.executor.plan.results]
        if None in results:
            return None
        found = f"({', '.join(map(str, results))},)" if self.executor.plan.returns_tuple else [*results, None][0]
        body = "".join(f"        {line}\n" for line in lines)
        text = f"def conclude({parameters}):\n    try:\n{body}        return {found}\n    except Odd:\n"
        exec(text + f"        return general({parameters})\n", values)
        return values["conclude"]

    def written_out(self, names: dict[str, str], values: dict[str, Any], prefix: str = "") -> list[str] | None:
        """The statements as lines of Python on the tuple `arguments`; None where they are not plain. Adds the Python
        names of scalars to `names`, which has those that are there by then, and what the lines refer to to `values`."""
        others = self._given(names)
        if others is None:
            return None
        lines: list[str] = []
        for place, (name, value) in enumerate(self.constants.items()):
            if name not in names:
                names[name] = f"{prefix}constant_{place}"
                values[names[name]] = value if isinstance(value, int) else float(value)
        for place, (name, source, get) in enumerate(others):
            names[name] = f"{prefix}given_{place}"
            values[f"{prefix}get_{place}"] = get
            lines.append(f"{names[name]} = {source if get is None else f'{prefix}get_{place}(arguments)'}")
        for place, (name, expression) in enumerate(self.statements):
            source = scalar_source(expression, names)
            if source is None:
                return None
            names[name] = f"{prefix}local_{place}"
            lines.append(f"{names[name]} = {source}")
        return lines

    def plain_finish(self, parts: list[Part]) -> Callable[[Sequence[Any], list[Any]], Any] | None:
        """As `_finish`, for float sums and products and float arithmetic after them."""
        executor = self.executor
        if any(p.op not in ("add", "mul") or not p.type.is_float or p.of != "value" for p in parts):
            return None
        statements = [(name, compile_scalar(value)) for name, value in self.statements]
        used = {n.name for _, e in self.statements for n in visit(e) if isinstance(n, k.ScalarValue | k.DimValue)}
        known = {*self.reductions, *self.constants, *(name for name, _ in statements)}
        if not used <= known or any(value is None for _, value in statements):
            return None
        starts = {name: float(v) if not isinstance(v, int) else v for name, v in self.constants.items()}
        names = [local.name for local in executor.plan.results]
        is_tuple, general = executor.plan.returns_tuple, self.finish(parts)

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

    def finish(self, parts: list[Part]) -> Callable[[Sequence[Any], list[Any]], Any]:
        """From folded parts to what is returned."""
        name = self.executor.definition.name
        starts, conclude = self.constants, self._general()
        of = {name: parts_of(reduction) for name, reduction in self.reductions.items()}

        def finish(arguments: Sequence[Any], folded: list[Any]) -> Any:
            by_part = {part.name: host_value(part.type, v) for part, v in zip(parts, folded, strict=True)}
            totals = {n: finished(name, r, starts[n], by_part, of[n]) for n, r in self.reductions.items()}
            return conclude(arguments, starts | totals)

        return finish

    def _general(self) -> Callable[[Sequence[Any], dict[str, Any]], Any]:
        """From the scalars behind the loop, as launches take them, to what is returned."""
        executor = self.executor
        definition, statements = executor.definition, self.statements
        names, is_tuple = [local.name for local in executor.plan.results], executor.plan.returns_tuple
        used = self._used()
        scalars = [(n, p) for n, p in enumerate(executor.base.parameters) if isinstance(p, k.ScalarParameter)]
        scalars = [(n, p) for n, p in scalars if p.name in used]
        sizes = [(name, getter(executor, k.DimValue(name))) for name in executor.base.dims if name in used]

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
        nodes = [node for _, expression in self.statements for node in visit(expression)]
        return {node.name for node in nodes if isinstance(node, k.ScalarValue | k.DimValue)}

    def _given(self, known: Container[str] = ()) -> list[tuple[str, str, Getter | None]] | None:
        """What the arguments say that the statements read: names, each as Python on `arguments` or by a function that
        the text calls `get`; None where that is not plain."""
        executor = self.executor
        made = {*self.reductions, *self.constants, *(name for name, _ in self.statements)}
        scalars = {p.name: p.type for p in executor.base.parameters if isinstance(p, k.ScalarParameter)}
        places = {p.name: at for at, p in enumerate(executor.definition.parameters)}
        found: list[tuple[str, str, Getter | None]] = []
        for name in sorted(name for name in self._used() - made if name not in known):
            if name in scalars:
                found.append((name, f"{_PLAIN.get(scalars[name], 'index')}(arguments[{places[name]}])", None))
                continue
            get = getter(executor, k.DimValue(name))
            if get is None:
                return None
            found.append((name, "get(arguments)", get))
        return found


def may_trap(value: k.Expr) -> bool:
    """Whether evaluating a host expression may end in an error."""
    return any(isinstance(n, k.Binary | k.Unary | k.Cast) and n.checked for n in visit(value))


def assignments(sections: Sequence[Section]) -> list[tuple[str, k.Expr]]:
    """The scalar assignments of sections in order, on scalar parameters."""
    return [(s.name, scalars_for_locals(s.value)) for a in sections for s in a.statements if isinstance(s, k.Assign)]


def getter(executor: Executor, node: k.Expr) -> Getter | None:
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
                    return lambda arguments, at=at: index(arguments[at])
            return None
        case k.Cast(value=value) if value.type.is_checked:
            return getter(executor, value)
        case k.Binary(op=("add" | "sub" | "mul" | "floordiv") as op, left=left, right=right):
            first, second = getter(executor, left), getter(executor, right)
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
