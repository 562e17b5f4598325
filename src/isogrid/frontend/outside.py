"""Objects from outside a kernel as values of its body: numbers, tuples, tables, dimensions, functions."""

import ast
import typing
from types import BuiltinFunctionType
from typing import Any, Final, cast

import numpy as np

from isogrid.frontend import language, operators
from isogrid.frontend.dims import Dim, DimExpression, DimMeta, TunableValue, tunable_name
from isogrid.frontend.geometry import ceiling_division
from isogrid.frontend.geometry import constant_value as extent_value
from isogrid.frontend.scope import Builder
from isogrid.frontend.values import (
    ArrayValue,
    DtypeValue,
    FunctionValue,
    Literal,
    NothingValue,
    ObjectValue,
    StringValue,
    TupleValue,
    Typed,
    Value,
)
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Access, Scalar, Space
from isogrid.support.bfloat16 import is_bfloat16

#: Element types by NumPy dtype, for constant tables. `uint32` is u32: arithmetic modulo 2^n is asked for by `w32(...)`.
_ELEMENTS: Final = {
    scalar.numpy: scalar
    for scalar in (
        Scalar.BOOL, Scalar.I8, Scalar.I16, Scalar.I32, Scalar.I64, Scalar.U8, Scalar.U16, Scalar.U32, Scalar.U64,
        Scalar.F16, Scalar.F32, Scalar.F64,
    )
}  # fmt: skip


def constant_value(builder: Builder, value: Any, node: ast.expr, name: str) -> Value:
    """What a Python object from outside the kernel means in it."""
    meaning = _language_value(builder, value, node, name)
    if meaning is not None:
        return meaning
    number = _number(value)
    if number is not None:
        literal = operators.literal(builder, number, node)
        builder.captures.note(name, repr(number))
        return literal
    match value:
        case None:
            return NothingValue()
        case str():
            return StringValue(value)
        case tuple():
            items = cast("tuple[Any, ...]", value)
            return TupleValue(
                tuple(constant_value(builder, item, node, f"{name}[{i}]") for i, item in enumerate(items))
            )
        case np.ndarray():
            return _table(builder, cast("np.ndarray[Any, Any]", value), node, name)
        case list() | dict() | set() | bytearray():
            _refuse_mutable(builder, cast("Any", value), node, name)
        case _:
            return ObjectValue(value)


def dimension_value(builder: Builder, value: Any, node: ast.expr) -> Value:
    """A dimension, an expression over dimensions or a tunable as a value of the body."""
    match value:
        case TunableValue():
            name = tunable_name(value) or builder.text(node)
            builder.captures.note(name, str(builder.constants.get(name, value.default)))
            return Literal(builder.constants.get(name, value.default))
        case DimExpression(op=op, operands=operands):
            parts = [dimension_value(builder, operand, node) for operand in operands]
            return _dimension_operation(builder, op, parts, node)
        case int():
            return Literal(value)
        case _:
            return _dimension(builder, value, node)


# --- objects of the language -----------------------------------------------------------------------------------------


def _language_value(builder: Builder, value: Any, node: ast.expr, name: str) -> Value | None:
    spelling = language.spelling(value)
    if spelling is not None:
        return FunctionValue(spelling)
    scalar = language.scalar_of(value)
    if scalar is not None:
        if name.rpartition(".")[2] != scalar.value and scalar is not Scalar.BOOL:
            builder.captures.note(name, scalar.value)
        return DtypeValue(scalar)
    if isinstance(value, typing.TypeVar):
        return _type_variable(builder, value, node)
    if isinstance(value, TunableValue | DimExpression | DimMeta) and value is not Dim:
        return dimension_value(builder, value, node)
    if value in _PYTHON_FUNCTIONS if _hashable(value) else False:
        return FunctionValue(f"builtins.{value.__name__}")
    if isinstance(value, BuiltinFunctionType) and value.__module__ == "math":
        return FunctionValue(f"math.{value.__name__}")
    return None


_PYTHON_FUNCTIONS: Final = frozenset(
    {abs, min, max, round, pow, len, int, float, range, enumerate, zip, print, sum, any, all, divmod, sorted, reversed}
    | {input, map, filter, open, isinstance, type, tuple, list, dict, set, str, complex, hash, id, iter, next, slice}
    | {super, object, getattr, setattr, hasattr, callable, repr, ord, chr, bin, hex, oct, eval, exec, bytes, vars, dir}
)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _type_variable(builder: Builder, variable: typing.TypeVar, node: ast.expr) -> Value:
    scalar = builder.frame.types.get(variable.__name__)
    if scalar is None:
        builder.refuse(
            "IG155",
            f"the type variable `{variable.__name__}` has no type here",
            node,
            "no parameter of this function is annotated with it",
            remedies=("annotate a parameter with it, or use `x.dtype` of an array",),
        )
    return DtypeValue(scalar)


def _dimension(builder: Builder, dimension: Any, node: ast.expr) -> Value:
    frame = builder.frame
    name = dimension.__name__
    if not frame.is_kernel:
        extent = frame.dims.get(dimension)
        if extent is not None:
            return Typed(extent)
        if dimension.is_constant and name in builder.constants:
            return Literal(builder.constants[name])
        builder.refuse(
            "IG155",
            f"the dimension `{name}` has no value in `{frame.function.__name__}`",
            node,
            "no array parameter of this helper has it",
            why="a dimension in a helper is its own: it is the extent of the argument it annotates",
            remedies=(f"annotate an array parameter with `{name}`, or use `x.shape[0]`",),
        )
    if name in builder.constants:
        builder.captures.note(name, str(builder.constants[name]))
        return Literal(builder.constants[name])
    for derived, expression in builder.definition.derived:
        if derived == name:
            return Typed(substituted(builder, expression))
    if name not in builder.dim_names:
        builder.refuse(
            "IG155",
            f"the dimension `{name}` has no value in this kernel",
            node,
            "no parameter and no extent of the geometry has it",
            remedies=(f"give an array parameter the extent `{name}`, or pass the size as `{name.lower()}: i64`",),
        )
    return Typed(k.DimValue(name, span=builder.span(node)))


def substituted(builder: Builder, expression: k.Expr) -> k.Expr:
    """An extent with constant dimensions, tunables and derived dimensions replaced by what they are."""
    match expression:
        case k.DimValue(name=name, span=span):
            if name in builder.constants:
                return k.Const(builder.constants[name], INDEX, span=span)
            for derived, meaning in builder.definition.derived:
                if derived == name:
                    return substituted(builder, meaning)
            return expression
        case k.Unary(op=op, operand=operand, type=type, span=span):
            return k.Unary(op, substituted(builder, operand), type, span=span)
        case k.Binary(op=op, left=left, right=right, type=type, span=span):
            return folded(op, substituted(builder, left), substituted(builder, right), type, span)
        case k.Cast(value=value, type=type, checked=checked, span=span):
            return k.Cast(substituted(builder, value), type, checked, span=span)
        case _:
            return expression


def folded(op: str, left: k.Expr, right: k.Expr, type: Scalar, span: Any) -> k.Expr:
    """An operation of an extent, computed where both sides are known."""
    result = k.Binary(op, left, right, type, span=span)
    if isinstance(left, k.Const) and isinstance(right, k.Const):
        try:
            value = extent_value(result, {})
        except ArithmeticError:
            return result
        if value is not None:
            return k.Const(value, type, span=span)
    return result


def _dimension_operation(builder: Builder, op: str, parts: list[Value], node: ast.expr) -> Value:
    if op == "cdiv":
        left, right = (_index_expression(builder, part, node) for part in parts)
        if isinstance(parts[0], Literal) and isinstance(parts[1], Literal):
            a, b = int(parts[0].value), int(parts[1].value)
            return operators.fold(builder, "floordiv", (a + b - 1, b), node)
        return Typed(ceiling_division(left, right, builder.span(node)))
    if op == "neg":
        return operators.unary(builder, "neg", parts[0], node, node)
    return operators.binary(builder, op, parts[0], parts[1], (node, node), node)


def _index_expression(builder: Builder, value: Value, node: ast.expr) -> k.Expr:
    match value:
        case Typed(expression=expression):
            return expression
        case Literal(value=number):
            return k.Const(int(number), INDEX, span=builder.span(node))
        case _:
            builder.give_up()


# --- constants -------------------------------------------------------------------------------------------------------


def _number(value: Any) -> int | float | None:
    """The Python number that a constant holds: Python's own, an integer enumeration's, or a NumPy scalar's."""
    match value:
        case bool():
            return value
        case int():
            return int(value)
        case np.bool_():
            return bool(value)
        case np.integer() | np.floating():
            return cast("np.generic", value).item()
        case float():
            return value
        case _:
            return None


def _table(builder: Builder, array: "np.ndarray[Any, Any]", node: ast.expr, name: str) -> Value:
    if id(array) in builder.tables:
        return builder.tables[id(array)][1]
    if array.flags.writeable:
        builder.refuse(
            "IG125",
            f"`{name}` is a NumPy array that may still change",
            node,
            "this array is writable",
            why="a constant is read when the kernel is first checked, and a later change would go unseen",
            remedies=(
                f"make it a table: `{name}.flags.writeable = False` after filling it",
                "or pass it as an array parameter",
            ),
            once=True,
        )
    element = Scalar.BF16 if is_bfloat16(array.dtype) else _ELEMENTS.get(array.dtype)
    if element is None or array.size == 0 or not 1 <= array.ndim <= 4:
        what = f"shape {array.shape}" if element is not None else f"dtype {array.dtype}"
        builder.refuse(
            "IG126",
            f"the table `{name}` has {what}, which no table may have",
            node,
            "not a table of the language",
            remedies=("a table has 1 to 4 axes, at least one element, and bool, integer or float elements",),
            once=True,
        )
    plain = np.ascontiguousarray(array)
    if element is Scalar.BF16:
        plain = plain.view(np.uint16)
    data = plain.astype(plain.dtype.newbyteorder("<")).tobytes()
    unique = builder.fresh(name.replace("[", ".").replace("]", ""))
    span = builder.span(node)
    builder.table_rows.append(k.Table(unique, element, tuple(array.shape), data, span=span))
    shape = tuple(k.Const(int(extent), INDEX, span=span) for extent in array.shape)
    value = ArrayValue(unique, element, shape, Space.TABLE, Access.IN)
    builder.tables[id(array)] = (array, value)
    builder.captures.note(name, f"table {element.value}{list(array.shape)}")
    return value


def _refuse_mutable(builder: Builder, value: Any, node: ast.expr, name: str) -> typing.NoReturn:
    kind = type(value).__name__
    remedy = {
        "list": f"make it a tuple, `{name} = (...)`, or a read-only NumPy array to index it with run-time values",
        "dict": "use one constant per entry",
        "set": "make it a tuple",
        "bytearray": "make it a read-only NumPy array of uint8",
    }[kind]
    builder.refuse(
        "IG125",
        f"`{name}` is a {kind}, which may change",
        node,
        f"a {kind} from outside the kernel",
        why="a constant is read when the kernel is first checked, and a later change would go unseen",
        remedies=(remedy,),
        once=True,
    )
