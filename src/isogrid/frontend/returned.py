"""The body of an offloaded function: as a kernel's for one thread, but it may return scalars.

s = 0.0; ...; return s, n        ->        ...; return.0 = s; return.1 = n
"""

import ast
from typing import Final

from isogrid.diagnostics.report import Label
from isogrid.frontend import binding, statements
from isogrid.frontend.definition import Generic
from isogrid.frontend.functions import FunctionText
from isogrid.frontend.names import binding_value
from isogrid.frontend.scope import Binding, Builder, RefusedError, Returns
from isogrid.frontend.values import NothingValue, Poison, TupleValue, Typed, Value, describe
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Results:
    """Locals that hold what was returned, in order; `is_tuple` also for a tuple of one."""

    locals: tuple[k.Local, ...] = ()
    is_tuple: bool = False


#: Of a function that returns nothing.
NOTHING: Final = Results()


def build_returning_body(builder: Builder, text: FunctionText, skip: int) -> Results:
    """Build the statements of the function; where it returns in several places, all of them in one scope."""
    frame, tree = builder.frame, text.captured.tree
    _declare(builder)
    if text.has_one_end:
        frame.returns = returns = Returns(label=None)
        statements.build_body(builder, tree, skip)
    else:
        label = builder.fresh("end")
        frame.returns = returns = Returns(label=label)
        with builder.nested() as body:
            statements.build_body(builder, tree, skip)
            _check_end(builder, returns, tree)
        builder.emit(k.Scope(label, tuple(body), span=builder.span(tree)))
    try:
        return _results(builder, returns, tree)
    except RefusedError:  # such as a value of another type than the annotation says
        return NOTHING


def _declare(builder: Builder) -> None:
    """Give the returned values the types that the annotation says."""
    declared = builder.definition.returns
    returns = builder.frame.captured.tree.returns
    if declared is None or returns is None:
        return
    is_tuple = not isinstance(returns, ast.Name | ast.Attribute | ast.Constant)
    types = dict(builder.specialisation.types)
    for number, kind in enumerate(declared):
        variable = builder.variable("return", (number,) if is_tuple else ())
        scalar = types.get(kind.name, kind.members[0]) if isinstance(kind, Generic) else kind
        builder.inference.declare(variable.key, scalar, builder.span(returns))


def _check_end(builder: Builder, returns: Returns, tree: ast.FunctionDef) -> None:
    if builder.frame.flow is None or all(isinstance(value, NothingValue) for value, _ in returns.values):
        return
    builder.report(
        "IG131",
        f"`{tree.name}` may end without a value",
        builder.frame.captured.signature_span(),
        "some path reaches the end",
        why="another path returns a value",
        remedies=("return a value on every path",),
        secondary=(Label(builder.span(returns.values[0][1]), "a value is returned here"),),
    )


def _results(builder: Builder, returns: Returns, tree: ast.FunctionDef) -> Results:
    given = [(value, node) for value, node in returns.values if not isinstance(value, Poison)]
    if not given:
        return NOTHING
    value, node = given[0]
    if isinstance(value, NothingValue):
        _check_count(builder, 0, node)
        return NOTHING
    target = returns.binding
    if returns.label is None:
        target = binding.result_binding(builder, value)
        if target is not None:
            binding.assign_to(builder, target, value, node.value or node, builder.span(node.value or node))
    if target is None:
        builder.report(
            "IG184",
            f"`{tree.name}` returns {builder.quoted(node.value or ast.Constant(None))}",
            node,
            f"this is {describe(value)}",
            why="an offloaded function returns scalars, or nothing",
            remedies=("put arrays among the parameters and return numbers only",),
        )
        return NOTHING
    return _locals(builder, target, node)


def _locals(builder: Builder, target: Binding, node: ast.Return) -> Results:
    value: Value = binding_value(builder, target, node)
    parts = value.items if isinstance(value, TupleValue) else (value,)
    found: list[k.Local] = []
    for part in parts:
        match part:
            case Typed(expression=k.Local() as local):
                found.append(local)
            case _:
                builder.report(
                    "IG184",
                    f"a returned tuple holds {describe(part)}",
                    node,
                    "only scalars can be returned",
                    remedies=("return one flat tuple of numbers",),
                )
    _check_count(builder, len(found), node)
    return Results(tuple(found), isinstance(value, TupleValue))


def _check_count(builder: Builder, count: int, node: ast.Return) -> None:
    declared = builder.definition.returns
    if declared is None or len(declared) == count:
        return
    builder.report(
        "IG184",
        f"`{builder.definition.name}` returns {count} values, and its annotation names {len(declared)}",
        node,
        f"{count} values",
        remedies=("make the annotation and the `return` agree",),
    )


def result_types(results: Results) -> tuple[Scalar, ...]:
    """The type of each returned value."""
    return tuple(local.type for local in results.locals)
