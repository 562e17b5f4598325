"""Shapes of shared and local arrays: they fold to positive constants before anything runs."""

import ast
from typing import Final, NoReturn

from isogrid.frontend.geometry import constant_value
from isogrid.frontend.scope import Builder
from isogrid.frontend.values import Literal, TupleValue, Typed, Value
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar

#: A shape's extents and every step of their product stay below this.
LIMIT: Final = 2**31
MAXIMUM_RANK: Final = 4


def constant_shape(builder: Builder, value: Value, node: ast.expr, element: Scalar) -> tuple[int, ...]:
    """The shape as numbers; refused where it is not constant, not positive, or too large."""
    values = value.items if isinstance(value, TupleValue) else (value,)
    nodes = node.elts if isinstance(node, ast.Tuple) and len(node.elts) == len(values) else [node] * len(values)
    if not 1 <= len(values) <= MAXIMUM_RANK:
        builder.refuse("IG134", f"a shape has 1 to 4 extents, and this one has {len(values)}", node, "the shape")
    shape = tuple(_extent(builder, v, n) for v, n in zip(values, nodes, strict=True))
    product = 1
    for extent in shape:
        product *= extent
        if product * element.size >= LIMIT:
            builder.refuse(
                "IG134",
                f"the shape {shape} takes {product * element.size} bytes or more",
                node,
                "an array of a group or thread is smaller than 2^31 bytes",
            )
    return shape


def known_number(builder: Builder, value: Value) -> int | float | None:
    """The number that a value is known to be at compile time, literal or typed; None if it is not known."""
    match value:
        case Literal(value=number):
            return number
        case Typed(expression=expression):
            return _known(builder, expression)
        case _:
            return None


def _known(builder: Builder, expression: k.Expr) -> int | None:
    match expression:
        case k.Local(name=name):
            number = builder.known_values.get(name)
            return number if isinstance(number, int) else None
        case k.Cast(value=value, type=type) if type.is_integer and value.type.is_integer:
            return _known(builder, value)
        case k.Binary(op=op, left=left, right=right, type=type):
            a, b = _known(builder, left), _known(builder, right)
            if a is None or b is None:
                return None
            folded = k.Binary(op, k.Const(a, type), k.Const(b, type), type)
            try:
                return constant_value(folded, {})
            except ArithmeticError:
                return None
        case k.Const(value=number, type=type):
            return None if type.is_float else number
        case _:
            return None


def _extent(builder: Builder, value: Value, node: ast.expr) -> int:
    number = known_number(builder, value)
    if number is None or isinstance(number, float | bool):
        _refuse_extent(builder, node, number)
    if number < 1:
        builder.refuse(
            "IG134",
            f"the extent {builder.quoted(node)} is {number}, not positive",
            node,
            "an array has at least one element along each axis",
        )
    if number >= LIMIT:
        builder.refuse("IG134", f"the extent {builder.quoted(node)} is {number}", node, "an extent is below 2^31")
    return number


def _refuse_extent(builder: Builder, node: ast.expr, number: int | float | None) -> NoReturn:
    if number is not None:
        builder.refuse("IG134", f"the extent {builder.quoted(node)} is {number}, not an integer", node, "no integer")
    builder.refuse(
        "IG134",
        f"the extent {builder.quoted(node)} is not known at compile time",
        node,
        "not a constant",
        why="shared and local arrays have a fixed size",
        remedies=(
            "use a literal, a module constant or an `ig.tunable`",
            "or make it a constant dimension: `class D(ig.Dim, const=True)`",
        ),
    )
