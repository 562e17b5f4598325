"""Extents and preconditions on the host: kernel IR over scalars and sizes, with the meanings of the language.

Sizes, constants and their sums, differences, products and quotients are computed here; the builtin tables, which take
a while to import, are asked for anything else.
"""

from collections.abc import Mapping
from typing import Any

from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX


class CannotEvaluate(Exception):
    """The expression has no value for this launch; the text says why, as a clause."""


def evaluate(expression: k.Expr, scalars: Mapping[str, Any], dims: Mapping[str, int]) -> Any:
    """The value of a launch-constant expression: an int, a bool or a NumPy float. Raises `CannotEvaluate`."""
    match expression:
        case k.Const(value=value, type=type) if type is INDEX:
            return value
        case k.DimValue(name=name):
            return size_of(name, dims)
        case k.ScalarValue(name=name):
            return scalars[name]
        case k.Binary(op=("add" | "sub" | "mul" | "floordiv") as op, left=left, right=right, type=type) if (
            type is INDEX
        ):
            a = evaluate(left, scalars, dims)
            return _index_result(op, a, evaluate(right, scalars, dims))
        case _:
            from isogrid.launch.tables import evaluate_by_tables

            return evaluate_by_tables(expression, scalars, dims)


def size_of(name: str, dims: Mapping[str, int]) -> int:
    """The size of a dimension; raises `CannotEvaluate` where no array of the launch binds it."""
    if name not in dims:
        raise CannotEvaluate(f"`{name}` is bound by no array of this launch")
    return dims[name]


def values_text(expression: k.Expr, scalars: Mapping[str, Any], dims: Mapping[str, int]) -> str:
    """`n = 6, N = 10` for every scalar and dimension that the expression reads, in order of first appearance."""
    from isogrid.ir.walk import visit

    found: dict[str, Any] = {}
    for node in visit(expression):
        if isinstance(node, k.ScalarValue):
            found.setdefault(node.name, scalars.get(node.name))
        elif isinstance(node, k.DimValue):
            found.setdefault(node.name, dims.get(node.name))
    return ", ".join(f"{name} = {value}" for name, value in found.items())


OVERFLOWED = "an intermediate result does not fit its type"
DIVIDED = "it divides by zero"


def _index_result(op: str, a: int, b: int) -> int:
    match op:
        case "add":
            result = a + b
        case "sub":
            result = a - b
        case "mul":
            result = a * b
        case _:
            if b == 0:
                raise CannotEvaluate(DIVIDED)
            result = a // b
    if not INDEX.holds(result):
        raise CannotEvaluate(OVERFLOWED)
    return result
