"""Operators by the table of the language: typing, folding of literals, and refusals that give the remedy."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

from isogrid.builtins.operators import OPERATORS
from isogrid.diagnostics.report import Label
from isogrid.frontend.coercion import (
    as_type,
    default_type,
    scalar_operand,
    settle_type,
    typed_as,
    unify,
)
from isogrid.frontend.scope import Builder
from isogrid.frontend.values import DtypeValue, Literal, NothingValue, Typed, Untyped, Value
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Scalar
from isogrid.support.shown import shown

BINARY: Final[Mapping[type[ast.operator], str]] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "shl",
    ast.RShift: "shr",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}
COMPARISON: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
#: Operators whose right operand may be any integer type.
FREE_RIGHT: Final = frozenset({"shl", "shr", "pow"})
#: Longest integer, in bits, that folding makes; no type holds more than 64.
LONGEST_LITERAL: Final = 4096
_TOO_LONG: Final = "no type holds a number of that size"
#: Largest literal exponent of a float power.
LARGEST_EXPONENT: Final = 4

#: Python's own operation behind each operator, by its name in the module `operator`.
_NAMES: Final[Mapping[str, str]] = {
    "div": "truediv",
    "shl": "lshift",
    "shr": "rshift",
    "and": "and_",
    "or": "or_",
}
_PYTHON: Final[Mapping[str, Callable[..., Any]]] = {
    name: getattr(operator, _NAMES.get(name, name)) for name in OPERATORS if name not in ("min", "max", "abs", "not")
} | {"min": min, "max": max, "abs": abs}


def binary(
    builder: Builder, op: str, left: Value, right: Value, nodes: tuple[ast.expr, ast.expr], place: ast.AST
) -> Value:
    """`left op right`, where both sides are evaluated already."""
    symbol = OPERATORS[op].symbol
    a = scalar_operand(builder, left, nodes[0], f"beside `{symbol}`")
    b = scalar_operand(builder, right, nodes[1], f"beside `{symbol}`")
    if isinstance(a, Literal) and isinstance(b, Literal):
        return fold(builder, op, (a.value, b.value), place)
    if op in FREE_RIGHT:
        shifted = _with_free_right(builder, op, a, b, nodes, place)
        if shifted is not None:
            return shifted
    type, (x, y), pending = unify(builder, (a, b), nodes, place, f"`{symbol}`")
    _check_type(builder, op, type, nodes, place)
    if op == "pow" and type.is_float:
        return Typed(k.Call("pow", (x, y), type, span=builder.span(place)), pending)
    checked = OPERATORS[op].can_trap(type)
    return Typed(k.Binary(op, x, y, type, checked, span=builder.span(place)), pending)


def unary(builder: Builder, op: str, value: Value, node: ast.expr, place: ast.AST) -> Value:
    """`-x`, `~x` and `abs(x)`."""
    operand = scalar_operand(builder, value, node, f"beside `{OPERATORS[op].symbol}`")
    if isinstance(operand, Literal):
        return fold(builder, op, (operand.value,), place)
    typed = operand if isinstance(operand, Typed) else settle_type(builder, operand, node)
    _check_type(builder, op, typed.type, (node,), place)
    checked = OPERATORS[op].can_trap(typed.type)
    return Typed(k.Unary(op, typed.expression, typed.type, checked, span=builder.span(place)), typed.pending)


def compare(
    builder: Builder, op: str, left: Value, right: Value, nodes: tuple[ast.expr, ast.expr], place: ast.AST
) -> Value:
    """One link of a comparison."""
    if isinstance(left, DtypeValue) and isinstance(right, DtypeValue) and op in ("eq", "ne"):
        return Literal((left.scalar is right.scalar) is (op == "eq"), settled=True)
    symbol = OPERATORS[op].symbol
    a = scalar_operand(builder, left, nodes[0], f"beside `{symbol}`")
    b = scalar_operand(builder, right, nodes[1], f"beside `{symbol}`")
    if isinstance(a, Literal) and isinstance(b, Literal):
        return fold(builder, op, (a.value, b.value), place)
    type, (x, y), _ = unify(builder, (a, b), nodes, place, f"`{symbol}`")
    _check_type(builder, op, type, nodes, place)
    return Typed(k.Compare(op, x, y, span=builder.span(place)))


def identity(
    builder: Builder, negated: bool, left: Value, right: Value, nodes: tuple[ast.expr, ast.expr], place: ast.AST
) -> Value:
    """`x is None` of an optional parameter, and `is` between dtypes: known at compile time."""
    match left, right:
        case (NothingValue(of=""), NothingValue(of="")):
            return Literal(not negated, settled=True)
        case DtypeValue(), DtypeValue():
            return Literal((left.scalar is right.scalar) is not negated, settled=True)
        case (NothingValue(of=""), _) | (_, NothingValue(of="")):
            return Literal(negated, settled=True)
        case _:
            word = "is not" if negated else "is"
            builder.refuse(
                "IG101",
                f"`{word}` compares with something other than None",
                place,
                "values have no identity in a kernel",
                remedies=(f"write `{'!=' if negated else '=='}`",),
            )


def literal(builder: Builder, number: int | float, place: ast.AST) -> Literal:
    """A number as a literal; one that would not even fit a message is refused."""
    if isinstance(number, int) and number.bit_length() > LONGEST_LITERAL:
        builder.refuse("IG111", f"{shown(number)} is out of range for every type", place, _TOO_LONG)
    return Literal(number)


def fold(builder: Builder, op: str, values: tuple[int | float, ...], place: ast.AST) -> Literal:
    """An operation on literals, computed as Python does; the result is again one literal."""
    why = _folding_limit(op, values)
    result: Any = None
    if not why:
        try:
            result = _PYTHON[op](*values)
        except (ArithmeticError, TypeError, ValueError) as error:
            why = str(error.args[-1])  # an overflow of floats carries an error number before its words
    if why or not isinstance(result, int | float):
        if isinstance(place, ast.BinOp) and op in ("floordiv", "mod", "div") and values[1] == 0:
            why = "it divides by zero"
        builder.refuse("IG113", "this constant expression has no value", place, why or "no real number")
    return literal(builder, result, place)


def fold_call(builder: Builder, function: Callable[..., Any], values: tuple[int | float, ...], place: ast.AST) -> Value:
    """A call on literals alone, computed as Python does."""
    try:
        result = function(*values)
    except (ArithmeticError, TypeError, ValueError) as error:
        builder.refuse("IG113", "this constant expression has no value", place, str(error.args[-1]))
    return literal(builder, result, place)


def _folding_limit(op: str, values: tuple[int | float, ...]) -> str:
    """Why a fold would make a number that no type holds, before Python spends memory on it."""
    if op not in ("pow", "shl") or not all(isinstance(v, int) for v in values):
        return ""
    base, amount = int(values[0]), int(values[1])
    width = base.bit_length() + amount if op == "shl" else base.bit_length() * amount
    return _TOO_LONG if width > LONGEST_LITERAL else ""


def _with_free_right(
    builder: Builder,
    op: str,
    left: Typed | Untyped,
    right: Typed | Untyped,
    nodes: tuple[ast.expr, ast.expr],
    place: ast.AST,
) -> Value | None:
    """Shifts and powers of integers, whose right operand keeps its own integer type, and small powers of floats; None
    for other powers of floats."""
    base = left
    if not isinstance(base, Typed):
        if not isinstance(right, Typed) or not right.type.is_integer or default_type(base) is not INDEX:
            return None if op == "pow" and _float_like(left, right) else _refuse_amount(builder, op, left, right, nodes)
        base = Typed(typed_as(builder, base, right.type, nodes[0]), right.pending)
    if op == "pow" and base.type.is_float:
        return _small_power(builder, base, right, nodes, place)
    _check_type(builder, op, base.type, nodes, place)
    if isinstance(right, Typed):
        if not right.type.is_integer and not right.pending:
            _refuse_amount(builder, op, left, right, nodes)
        amount = right.expression
    elif default_type(right) is INDEX:
        amount = typed_as(builder, right, INDEX, nodes[1])
    else:
        _refuse_amount(builder, op, left, right, nodes)
    checked = OPERATORS[op].can_trap(base.type)
    return Typed(k.Binary(op, base.expression, amount, base.type, checked, span=builder.span(place)), base.pending)


def _float_like(left: Typed | Untyped, right: Typed | Untyped) -> bool:
    return any((v.type if isinstance(v, Typed) else default_type(v)).is_float for v in (left, right))


def _small_power(
    builder: Builder, base: Typed, right: Typed | Untyped, nodes: tuple[ast.expr, ast.expr], place: ast.AST
) -> Value | None:
    """A float to a literal power of 0 to 4, by multiplications; None for any other: the function `pow` computes it."""
    if isinstance(right, Literal) and not isinstance(right.value, bool) and right.value in range(LARGEST_EXPONENT + 1):
        exponent = as_type(builder, Literal(int(right.value)), base.type, nodes[1])
        power = k.Binary("pow", base.expression, exponent, base.type, checked=False, span=builder.span(place))
        return Typed(power, base.pending)
    return None


def _check_type(builder: Builder, op: str, type: Scalar, nodes: tuple[ast.expr, ...], place: ast.AST) -> None:
    row = OPERATORS[op]
    if type in row.types:
        return
    if op == "div" and type.is_integer:
        _refuse_division(builder, type, nodes, place)
    subjects = " and ".join(builder.quoted(node) for node in nodes)
    verb = "is" if len(nodes) == 1 else "are"
    builder.refuse(
        "IG109",
        f"`{row.symbol}` is not defined for {type.value}",
        place,
        f"{subjects} {verb} {type.value}",
        remedies=(row.refusals[type],) if type in row.refusals else (),
    )


def _refuse_division(builder: Builder, type: Scalar, nodes: tuple[ast.expr, ...], place: ast.AST) -> NoReturn:
    a, b = (builder.text(node) for node in nodes)
    builder.refuse(
        "IG110",
        f"`/` divides {type.value} values",
        place,
        f"both sides are {type.value}",
        why="Python's `/` would give a float here and C's an integer, so the choice is written",
        remedies=(
            f"for the integer rounded down, write `{_operand(a, nodes[0])} // {_operand(b, nodes[1])}`",
            f"for a fraction, write `f32({a}) / f32({b})`",
        ),
    )


def _operand(text: str, node: ast.expr) -> str:
    simple = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant)
    return text if simple or text.startswith("(") else f"({text})"


def _refuse_amount(
    builder: Builder, op: str, left: Typed | Untyped, right: Typed | Untyped, nodes: tuple[ast.expr, ast.expr]
) -> NoReturn:
    symbol = OPERATORS[op].symbol
    offender, node = (right, nodes[1])
    left_type = left.type if isinstance(left, Typed) else default_type(left)
    if not left_type.is_integer:
        offender, node = (left, nodes[0])
    type = offender.type if isinstance(offender, Typed) else default_type(offender)
    what = "the exponent of an integer power" if op == "pow" else "a shift amount"
    other = nodes[0] if node is nodes[1] else nodes[1]
    if node is nodes[0]:
        builder.refuse(
            "IG109",
            f"`{symbol}` is not defined for {type.value}",
            node,
            f"this is {type.value}",
            remedies=(OPERATORS[op].refusals[type],) if type in OPERATORS[op].refusals else (),
        )
    builder.refuse(
        "IG109",
        f"{what} is an integer, and {builder.quoted(node)} is {type.value}",
        node,
        f"this is {type.value}",
        remedies=(f"convert it: `int({builder.text(node)})`",),
        secondary=(Label(builder.span(other), f"this is {left_type.value}"),),
    )
