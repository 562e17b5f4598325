"""How a value takes a type: literals take the type they meet, i32 and u32 widen beside an i64, nothing else does."""

import ast
import math
from collections.abc import Sequence
from typing import Final, NoReturn

from isogrid.builtins import floats
from isogrid.builtins.conversions import STORED_FLOATS, conversion, store_conversion
from isogrid.builtins.meaning import quiet
from isogrid.diagnostics.report import Edit, Label, Remedy
from isogrid.frontend.beginnings import begin_otherwise
from isogrid.frontend.foreign import meant_by, special_float
from isogrid.frontend.inference import literal_type
from isogrid.frontend.scope import Builder
from isogrid.frontend.values import (
    ArrayValue,
    DtypeValue,
    Literal,
    LiteralChoice,
    Narrowed,
    NothingValue,
    Poison,
    StringValue,
    TupleValue,
    Typed,
    Untyped,
    Value,
    article,
    describe,
)
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Scalar


def constant(builder: Builder, value: int | float, type: Scalar, node: ast.AST) -> k.Const:
    """A literal as a constant of `type`, rounded once; refused where the type has no such value."""
    _check_kind(builder, value, type, node)
    if type is Scalar.BOOL:
        return k.Const(int(value), type, span=builder.span(node))
    if type.is_float:
        return k.Const(_float_bits(builder, value, type, node), type, span=builder.span(node))
    if not type.holds(int(value)):
        builder.refuse(
            "IG111",
            f"`{value}` is out of range for {type.value}",
            node,
            f"{type.value} holds {type.minimum}..{type.maximum}",
            remedies=_range_remedies(int(value), type, node),
        )
    return k.Const(int(value), type, span=builder.span(node))


def fits_kind(value: int | float, type: Scalar) -> bool:
    """Whether a literal of this Python type may take `type` at all."""
    if isinstance(value, bool) or type is Scalar.BOOL:
        return isinstance(value, bool) and type is Scalar.BOOL
    return type.is_float or isinstance(value, int)


def default_type(value: Untyped) -> Scalar:
    """The type of a literal that nothing else decides."""
    if isinstance(value, Literal):
        return literal_type(value.value)
    kinds = {default_type(value.then), default_type(value.otherwise)}
    return next(t for t in (Scalar.F32, INDEX, Scalar.BOOL) if t in kinds)


def untyped_fits(value: Untyped, type: Scalar) -> bool:
    """Whether every literal of the value may take `type`."""
    if isinstance(value, Literal):
        return fits_kind(value.value, type)
    return untyped_fits(value.then, type) and untyped_fits(value.otherwise, type)


def typed_as(builder: Builder, value: Untyped, type: Scalar, node: ast.AST) -> k.Expr:
    """A literal, or a run-time choice between literals, with a type."""
    if isinstance(value, Literal):
        return constant(builder, value.value, type, node)
    then = typed_as(builder, value.then, type, node)
    otherwise = typed_as(builder, value.otherwise, type, node)
    return k.Choose(value.condition, then, otherwise, type, span=builder.span(node))


def settle_type(builder: Builder, value: Untyped, node: ast.AST) -> Typed:
    """A literal on its own: index, f32 or bool."""
    return Typed(typed_as(builder, value, default_type(value), node))


def scalar_operand(builder: Builder, value: Value, node: ast.expr, use: str) -> Typed | Untyped:
    """The value as a scalar; anything else is refused, saying what it was used for."""
    match value:
        case Typed() | Literal() | LiteralChoice():
            return value
        case Poison():
            builder.give_up()
        case Narrowed():
            element = value.expression.type
            builder.refuse(
                "IG114",
                f"{builder.quoted(node)} is computed with, but {element.value} is for elements only",
                node,
                f"a conversion to {element.value} may only be stored",
                remedies=(f"convert to {element.computing.value}: `{element.computing.value}(...)`",),
            )
        case NothingValue():
            _refuse_nothing(builder, value, node, use)
        case _:
            builder.refuse(
                "IG157",
                f"{builder.quoted(node)} is {article(describe(value))}, not a number",
                node,
                f"{describe(value)} {use}",
                remedies=_value_remedies(builder, value, node),
            )


def number(builder: Builder, value: Value, node: ast.expr, use: str) -> Typed:
    """The value as a typed scalar, literals with their own type."""
    operand = scalar_operand(builder, value, node, use)
    return operand if isinstance(operand, Typed) else settle_type(builder, operand, node)


def condition(builder: Builder, value: Value, node: ast.expr, where: str) -> k.Expr:
    """The value as a bool; nothing else is true or false."""
    operand = scalar_operand(builder, value, node, "used as a condition")
    if isinstance(operand, Typed) and operand.type is Scalar.BOOL:
        return operand.expression
    if not isinstance(operand, Typed) and default_type(operand) is Scalar.BOOL:
        return typed_as(builder, operand, Scalar.BOOL, node)
    type = operand.type if isinstance(operand, Typed) else default_type(operand)
    comparison = "True" if value == Literal(1) else f"{_parenthesised(builder.text(node), node)} != 0"
    builder.refuse(
        "IG104",
        f"the {where} is a bool, and {builder.quoted(node)} is {type.value}",
        node,
        f"this is {type.value}",
        why="numbers are not true or false here, so that a forgotten comparison is noticed",
        remedies=(Remedy(f"write `{comparison}`", (Edit(builder.span(node), comparison),)),),
    )


def unify(
    builder: Builder,
    values: Sequence[Typed | Untyped],
    nodes: Sequence[ast.expr],
    place: ast.AST,
    operation: str,
) -> tuple[Scalar, tuple[k.Expr, ...], bool]:
    """The common type of several operands, the operands in it, and whether that type is still a guess."""
    type, pending = _common_type(builder, values, nodes, place, operation)
    return type, tuple(as_type(builder, v, type, n) for v, n in zip(values, nodes, strict=True)), pending


def as_type(builder: Builder, value: Typed | Untyped, type: Scalar, node: ast.AST) -> k.Expr:
    """The value in a type that it takes, or widens to, by itself."""
    if not isinstance(value, Typed):
        return typed_as(builder, value, type, node)
    if value.type is type:
        return value.expression
    return k.Cast(value.expression, type, checked=False, span=value.expression.span)


def takes(value: Typed | Untyped, type: Scalar) -> bool:
    """Whether the value has the type, takes it, or widens to it by itself."""
    if not isinstance(value, Typed):
        return untyped_fits(value, type)
    return value.type is type or value.pending or widens(value.type, type)


def widens(source: Scalar, target: Scalar) -> bool:
    row = conversion(source, target)
    return row is not None and row.widens


def stored(builder: Builder, value: Value, element: Scalar, node: ast.expr, array: str) -> tuple[k.Expr, bool]:
    """A value as an element of `array`, and whether narrowing it may trap."""
    if isinstance(value, Narrowed):
        if value.expression.type is element:
            return value.expression, False
        _refuse_other_element(builder, value.expression.type, element, node, array)
    operand = scalar_operand(builder, value, node, "stored")
    if not isinstance(operand, Typed):
        if not untyped_fits(operand, element):
            _refuse_store(builder, default_type(operand), element, node, array)
        if element in STORED_FLOATS:
            return _stored_literal(builder, operand, element, node), False
        _check_element_range(builder, operand, element, node)
        return typed_as(builder, operand, element.computing, node), False
    if operand.pending or operand.type is element:
        return as_type(builder, operand, element.computing, node), False
    if widens(operand.type, element):
        return as_type(builder, operand, element, node), False
    row = store_conversion(operand.type, element)
    if row is None:
        _refuse_store(builder, operand.type, element, node, array)
    saturated = isinstance(operand.expression, k.Call) and operand.expression.name == f"saturate_{element.value}"
    return operand.expression, row.can_trap and not saturated


def expect(builder: Builder, value: Value, type: Scalar, node: ast.expr, what: str) -> k.Expr:
    """The value where an annotation asks for `type`."""
    operand = scalar_operand(builder, value, node, f"given to {what}")
    if takes(operand, type):
        return as_type(builder, operand, type, node)
    actual = operand.type if isinstance(operand, Typed) else default_type(operand)
    builder.refuse(
        "IG130",
        f"{what} is {type.value}, but {builder.quoted(node)} is {actual.value}",
        node,
        f"this is {actual.value}",
        remedies=(f"convert it: `{type.value}({builder.text(node)})`",),
    )


# --- literals --------------------------------------------------------------------------------------------------------


def _check_kind(builder: Builder, value: int | float, type: Scalar, node: ast.AST) -> None:
    if fits_kind(value, type):
        return
    if isinstance(value, bool):
        remedy = f"convert it: `{type.value}({value})`"
    elif type is Scalar.BOOL:
        remedy = "write True or False"
    elif value == int(value) if math.isfinite(value) else False:
        remedy = f"write the integer `{int(value)}`"
    else:
        remedy = "convert the other operand to f32 or f64, or write an integer"
    builder.refuse(
        "IG112",
        f"the literal `{value}` cannot be {article(type.value)}",
        node,
        f"{type.value} is wanted here",
        why=f"a literal takes the type of what it meets, and {_kind(value)} literal is no {type.value}",
        remedies=(remedy,),
    )


def _float_bits(builder: Builder, value: int | float, type: Scalar, node: ast.AST) -> int:
    with quiet():
        rounded = floats.from_integer(type, value) if isinstance(value, int) else floats.number(type, value)
    if math.isinf(float(rounded)) and not (isinstance(value, float) and math.isinf(value)):
        builder.refuse(
            "IG111",
            f"`{value}` is out of range for {type.value}",
            node,
            f"the largest {type.value} is {_LARGEST[type]}",
            remedies=(
                "write `math.inf` for infinity",
                *(("convert the other operand to f64",) if type is Scalar.F32 else ()),
            ),
        )
    return floats.to_bits(type, rounded)


_LARGEST: Final = {
    Scalar.F16: "65504.0",
    Scalar.BF16: "3.3895314e38",
    Scalar.F32: "3.4028235e38",
    Scalar.F64: "1.7976931348623157e308",
}


def element_constant(builder: Builder, value: int | float, element: Scalar, node: ast.AST) -> k.Const:
    """A literal rounded once to f16 or bf16, as a constant of the type that its elements are computed in."""
    _check_kind(builder, value, element, node)
    rounded = floats.from_bits(element, _float_bits(builder, value, element, node))
    wide = floats.number(element.computing, rounded)
    return k.Const(floats.to_bits(element.computing, wide), element.computing, span=builder.span(node))


def _stored_literal(builder: Builder, value: Untyped, element: Scalar, node: ast.AST) -> k.Expr:
    if isinstance(value, Literal):
        return element_constant(builder, value.value, element, node)
    then = _stored_literal(builder, value.then, element, node)
    otherwise = _stored_literal(builder, value.otherwise, element, node)
    return k.Choose(value.condition, then, otherwise, element.computing, span=builder.span(node))


def _check_element_range(builder: Builder, value: Untyped, element: Scalar, node: ast.AST) -> None:
    """A literal must be an element, not only a value of the wider type that elements are computed in."""
    if isinstance(value, LiteralChoice):
        _check_element_range(builder, value.then, element, node)
        _check_element_range(builder, value.otherwise, element, node)
    elif element.is_integer and not element.holds(int(value.value)):
        builder.refuse(
            "IG111",
            f"`{value.value}` is out of range for {element.value}",
            node,
            f"the elements hold {element.minimum}..{element.maximum}",
            remedies=_element_remedies(int(value.value), element),
        )


def _element_remedies(value: int, element: Scalar) -> tuple[str, ...]:
    """A store has no other operand that could be converted."""
    if element in (Scalar.I32, Scalar.U32) and Scalar.I64.holds(value):
        return ("declare the array with i64 elements",)
    return _range_remedies(value, element, None)


def _range_remedies(value: int, type: Scalar, node: ast.AST | None) -> tuple[str, ...]:
    if type.is_modular and -(1 << type.bits) < value < 0:
        return (f"write the value modulo 2^{type.bits}: `{hex(value % (1 << type.bits))}`",)
    if not type.is_computing:
        return (f"clamp it: `ig.saturate({type.value}, ...)`",)
    if isinstance(node, ast.Call):
        return _conversion_remedies(value, type)
    if type in (Scalar.I32, Scalar.U32) and Scalar.I64.holds(value):
        return ("convert the other operand to i64",)
    return ()


def _conversion_remedies(value: int, type: Scalar) -> tuple[str, ...]:
    """`u32(-1)`: what the author of a conversion may have meant."""
    if -(1 << (type.bits - 1)) <= value < 1 << type.bits:
        return (f"for the same bits, write `w{type.bits}({value})`",)
    return ("write `i64(...)`",) if Scalar.I64.holds(value) else ()


# --- common types ----------------------------------------------------------------------------------------------------


def _common_type(
    builder: Builder,
    values: Sequence[Typed | Untyped],
    nodes: Sequence[ast.expr],
    place: ast.AST,
    operation: str,
) -> tuple[Scalar, bool]:
    typed = [(v, n) for v, n in zip(values, nodes, strict=True) if isinstance(v, Typed) and not v.pending]
    if typed:
        if all(v.type is INDEX or widens(v.type, INDEX) for v, _ in typed):
            typed.sort(key=lambda pair: pair[0].type is not INDEX)  # the others stand beside it, in whatever order
        common, first = typed[0][0].type, typed[0][1]
        for value, node in typed[1:]:
            if value.type is common or widens(value.type, common):
                continue
            if not widens(common, value.type):
                _refuse_mixed(builder, (common, first), (value.type, node), operation)
            common, first = value.type, node
        return common, False
    guesses = [v.type if isinstance(v, Typed) else default_type(v) for v in values]
    common = next((t for t in (Scalar.F32, INDEX, Scalar.BOOL) if t in guesses), guesses[0])
    return common, any(isinstance(v, Typed) for v in values)


def _refuse_mixed(
    builder: Builder, left: tuple[Scalar, ast.expr], right: tuple[Scalar, ast.expr], operation: str
) -> NoReturn:
    left_type, left_node = left
    right_type, right_node = right
    left_text, right_text = builder.text(left_node), builder.text(right_node)
    ways = ((right_type, left_type, right_text), (left_type, right_type, left_text))
    remedies = [*begin_otherwise(builder, left_node, right_type), *begin_otherwise(builder, right_node, left_type)]
    remedies += [
        f"write `{target.value}({text})`"
        for source, target, text in sorted(ways, key=lambda way: _loss(way[0], way[1]))
        if conversion(source, target) is not None and target is not Scalar.BOOL
    ]
    builder.refuse(
        "IG108",
        f"{operation} mixes {left_type.value} and {right_type.value}",
        right_node,
        f"this is {right_type.value}",
        why="types are never converted silently, except i32 and u32 beside an i64",
        remedies=tuple(remedies),
        secondary=(Label(builder.span(left_node), f"this is {left_type.value}"),),
    )


def _loss(source: Scalar, target: Scalar) -> int:
    """How much a conversion may lose: a fraction, or bits, or nothing. What loses least is proposed first."""
    if source.is_float and not target.is_float:
        return 2
    return 1 if source.is_float == target.is_float and target.bits < source.bits else 0


def _refuse_store(builder: Builder, source: Scalar, element: Scalar, node: ast.expr, array: str) -> NoReturn:
    remedies = [f"convert it: `{element.value}({builder.text(node)})`"]
    if element in STORED_FLOATS and conversion(source, element) is None:
        remedies = [f"convert it to f32 first: `{element.value}(f32({builder.text(node)}))`"]
    if source.is_float and element.is_integer and not element.is_modular:
        remedies.append(f"clamp it to the range: `ig.saturate({element.value}, {builder.text(node)})`")
    if source.is_float and element.is_float and element.is_computing:
        remedies = [*begin_otherwise(builder, node, element), *remedies]
    builder.refuse(
        "IG115",
        f"`{array}` has {element.value} elements, but {builder.quoted(node)} is {source.value}",
        node,
        f"this is {source.value}",
        why="a store converts by itself only into a narrower integer element",
        remedies=tuple(remedies),
    )


def _refuse_other_element(builder: Builder, source: Scalar, element: Scalar, node: ast.expr, array: str) -> NoReturn:
    builder.refuse(
        "IG115",
        f"`{array}` has {element.value} elements, but {builder.quoted(node)} is {source.value}",
        node,
        f"a conversion to {source.value} may only be stored as that",
        remedies=(f"convert to the elements' type: `{element.value}(...)`",),
    )


def _refuse_nothing(builder: Builder, value: NothingValue, node: ast.expr, use: str) -> NoReturn:
    if value.of:
        builder.refuse(
            "IG150",
            f"`{value.of}` gives no value",
            node,
            f"nothing is {use}",
            remedies=("call it as a statement of its own",),
        )
    if isinstance(node, ast.Constant):
        builder.refuse(
            "IG154",
            "`None` is no number",
            node,
            f"None {use}",
            remedies=("write a number; None only says that an optional argument is absent",),
        )
    builder.refuse(
        "IG154",
        f"{builder.quoted(node)} is None here",
        node,
        f"None {use}",
        remedies=(f"guard the use: `if {builder.text(node)} is not None:`",),
    )


def _value_remedies(builder: Builder, value: Value, node: ast.expr) -> tuple[str, ...]:
    match value:
        case ArrayValue(rank=rank):
            indices = ", ".join("ijkl"[:rank])
            return (f"take one element: `{builder.text(node)}[{indices}]`",)
        case TupleValue():
            return (f"take one component: `{builder.text(node)}[0]`",)
        case DtypeValue(scalar=scalar):
            return (f"convert a value: `{scalar.value}(...)`",)
        case StringValue():
            special = special_float(node)
            return (f"write `{special}`" if special else "kernels compute with numbers only",)
        case _:
            names = (meant_by(part.attr) for part in ast.walk(node) if isinstance(part, ast.Attribute))
            return tuple(f"write `{name}`" for name in names if name is not None)[:1]


def _kind(value: int | float) -> str:
    if isinstance(value, bool):
        return "a bool"
    return "an integer" if isinstance(value, int) else "a float"


def _parenthesised(text: str, node: ast.expr) -> str:
    simple = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant)
    return text if simple else f"({text})"
