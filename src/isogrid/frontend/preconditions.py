"""Preconditions on arrays at the head of a kernel, `ig.require(ig.distinct(p))`, and what a launch can evaluate."""

import ast
from typing import Final, TypeGuard, assert_never

from isogrid.frontend import calls, expressions
from isogrid.frontend.coercion import as_type, number
from isogrid.frontend.scope import Builder
from isogrid.frontend.values import ArrayValue, FunctionValue, Literal, Value
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Scalar, Space

_PARAMETERS: Final = {
    "isogrid.distinct": ("p", "where"),
    "isogrid.is_sorted": ("p",),
    "isogrid.all_in_range": ("p", "lo", "hi", "where"),
    "isogrid.all_finite": ("p",),
}


def is_array_fact(node: ast.expr, builder: Builder) -> TypeGuard[ast.Call]:
    """Whether the condition of a `require` is about the elements of an array."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        return False
    before = len(builder.reports)
    called = expressions.evaluate(builder, node.func)
    del builder.reports[before:]
    return isinstance(called, FunctionValue) and called.spelling in _PARAMETERS


def array_fact(builder: Builder, node: ast.Call, call: ast.Call) -> None:
    """Read one fact and add it to the kernel's."""
    called = expressions.evaluate(builder, node.func)
    assert isinstance(called, FunctionValue)
    parameters = _PARAMETERS[called.spelling]
    given = calls.arguments(builder, node, parameters, optional=int("where" in parameters))
    with builder.nested() as hoisted:
        values = calls.evaluated(builder, given)
        kind = called.spelling.removeprefix("isogrid.")
        array = _array(builder, kind, values["p"], given["p"])
        low, high = (_bound(builder, array, values[b], given[b]) if b in given else None for b in ("lo", "hi"))
    where = _flags(builder, kind, array, values["where"], given["where"]) if "where" in given else ""
    for bound, name in ((low, "lo"), (high, "hi")):
        if bound is not None and (hoisted or thread_dependent(bound) is not None):
            builder.refuse(
                "IG144",
                f"the bound {builder.quoted(given[name])} is not over scalars and sizes",
                given[name],
                "differs from thread to thread, or is read from an array",
                why="a precondition is checked once per launch, before any thread runs",
            )
    fact = k.ArrayFact(kind, array.name, builder.text(node), low, high, where, span=builder.span(call))
    builder.facts.append(fact)


def _array(builder: Builder, kind: str, value: Value, node: ast.expr) -> ArrayValue:
    if not isinstance(value, ArrayValue) or value.space is not Space.GLOBAL:
        builder.refuse(
            "IG130",
            f"`ig.{kind}` is about an array parameter, and {builder.quoted(node)} is none",
            node,
            "no array parameter",
        )
    element = value.element
    if value.access.writes:
        builder.refuse(
            "IG144",
            f"`{value.name}` is written in this launch, and `ig.{kind}` is about it",
            node,
            f"declared `{value.access.value}`",
            why="what was checked before the first thread need not hold for the next",
            remedies=(f"declare it `In`, and write another array in place of `{value.name}`",),
        )
    if (kind == "distinct" and not element.is_integer) or (kind == "all_finite" and not element.is_float):
        builder.refuse(
            "IG130",
            f"`ig.{kind}` is not defined for {element.value} elements",
            node,
            f"`{value.name}` has {element.value} elements",
            remedies=("it is about integers" if kind == "distinct" else "it is about floats",),
        )
    if element is Scalar.BOOL:
        builder.refuse(
            "IG130", f"`ig.{kind}` is about numbers, and `{value.name}` has bool elements", node, "no numbers"
        )
    return value


def _bound(builder: Builder, array: ArrayValue, value: Value, node: ast.expr) -> k.Expr:
    """A bound of an integer array is any integer, of a float array a float of its type."""
    element = array.element.computing
    if isinstance(value, Literal):
        return as_type(builder, value, INDEX if element.is_integer else element, node)
    bound = number(builder, value, node, "a bound")
    if bound.type.is_integer != element.is_integer or (element.is_float and bound.type is not element):
        builder.refuse(
            "IG130",
            f"`{array.name}` has {array.element.value} elements, and {builder.quoted(node)} is {bound.type.value}",
            node,
            f"this is {bound.type.value}",
        )
    return bound.expression


def _flags(builder: Builder, kind: str, array: ArrayValue, value: Value, node: ast.expr) -> str:
    flags = isinstance(value, ArrayValue) and value.element is Scalar.BOOL and value.space is Space.GLOBAL
    if not isinstance(value, ArrayValue) or not flags or value.access.writes:
        builder.refuse(
            "IG130",
            f"`where=` of `ig.{kind}` takes an `In[bool, ...]` array, and {builder.quoted(node)} is none",
            node,
            "no flags that are only read",
        )
    if value.extents != array.extents:
        builder.refuse(
            "IG130",
            f"`{value.name}` and `{array.name}` may have different shapes",
            node,
            "one flag for each element is needed",
            remedies=("declare both with the same dimensions",),
        )
    return value.name


def thread_dependent(expression: k.Expr) -> k.Expr | None:
    """The first part of an expression that a launch cannot evaluate on its own."""
    match expression:
        case k.Const() | k.ScalarValue() | k.DimValue():
            return None
        case k.Local() | k.Query() | k.Load():
            return expression
        case k.Unary(operand=operand):
            return thread_dependent(operand)
        case k.Binary(left=left, right=right) | k.Compare(left=left, right=right) | k.Logical(left=left, right=right):
            return thread_dependent(left) or thread_dependent(right)
        case k.Cast(value=value):
            return thread_dependent(value)
        case k.Choose(condition=test, then=then, otherwise=otherwise):
            return thread_dependent(test) or thread_dependent(then) or thread_dependent(otherwise)
        case k.Call(arguments=parts):
            return next((found for p in parts if (found := thread_dependent(p)) is not None), None)
        case _:
            assert_never(expression)
