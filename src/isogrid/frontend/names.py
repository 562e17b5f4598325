"""What a name or attribute means in a body: a local, a parameter, a dimension, a constant, or nothing."""

import ast
import builtins
import difflib
import enum
import inspect
import math
import typing
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final, cast

import numpy as np

from isogrid.diagnostics.report import Label
from isogrid.frontend import language, operators
from isogrid.frontend.coercion import constant
from isogrid.frontend.dims import Dim, DimExpression, DimMeta, TunableValue, tunable_name
from isogrid.frontend.geometry import ceiling_division
from isogrid.frontend.geometry import constant_value as extent_value
from isogrid.frontend.scope import Binding, Builder, Fixed, Frame, Variable, VariableTuple
from isogrid.frontend.values import (
    POISON,
    ArrayValue,
    DtypeValue,
    FunctionValue,
    LimitsValue,
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

#: Element types by NumPy dtype, for constant tables. `uint32` is u32: arithmetic modulo 2^n is asked for by `w32(...)`.
_ELEMENTS: Final = {
    scalar.numpy: scalar
    for scalar in (
        Scalar.BOOL, Scalar.I8, Scalar.I16, Scalar.I32, Scalar.I64, Scalar.U8, Scalar.U16, Scalar.U32, Scalar.U64,
        Scalar.F32, Scalar.F64,
    )
}  # fmt: skip


def name_value(builder: Builder, node: ast.Name) -> Value:
    """The value of a name that is read."""
    frame = builder.frame
    if node.id in frame.locals:
        return _local(builder, node)
    if node.id in frame.parameters:
        return _placed(frame.parameters[node.id], builder, node)
    try:
        value = builder.captures.read(frame.function, node.id)
    except LookupError:
        _refuse_unknown(builder, node)
    return constant_value(builder, value, node, node.id)


def binding_value(builder: Builder, binding: Binding, node: ast.AST) -> Value:
    """The present value of a local."""
    match binding:
        case Variable(name=name, key=key):
            type, pending = builder.inference.read(key)
            return Typed(k.Local(name, type, span=builder.span(node)), pending)
        case VariableTuple(items=items):
            return TupleValue(tuple(binding_value(builder, item, node) for item in items))
        case Fixed(value=value):
            return value


def constant_value(builder: Builder, value: Any, node: ast.expr, name: str) -> Value:
    """What a Python object from outside the kernel means in it."""
    meaning = _language_value(builder, value, node, name)
    if meaning is not None:
        return meaning
    number = _number(value)
    if number is not None:
        builder.captures.note(name, repr(number))
        return Literal(number)
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


def attribute_value(builder: Builder, owner: Value, node: ast.Attribute) -> Value:
    """`owner.name`."""
    match owner:
        case ArrayValue():
            return _array_attribute(builder, owner, node)
        case ObjectValue(object=ModuleType() as module):
            return _module_attribute(builder, module, node)
        case ObjectValue(object=object_) if inspect.isclass(object_) and hasattr(object_, node.attr):
            return constant_value(builder, builder.captures.attribute(object_, node.attr), node, builder.text(node))
        case ObjectValue(object=enum.Enum() as member) if node.attr == "value":
            return constant_value(builder, member.value, node, builder.text(node))
        case LimitsValue(scalar=scalar):
            return _limit(builder, scalar, node)
        case DtypeValue(scalar=scalar) if node.attr in ("max", "min", "itemsize"):
            builder.refuse(
                "IG123",
                f"dtype {scalar.value} has no attribute `{node.attr}`",
                node,
                "unknown attribute",
                remedies=(f"write `ig.limits({scalar.value}).{'max' if node.attr == 'itemsize' else node.attr}`",),
            )
        case _:
            builder.refuse(
                "IG123",
                f"{builder.quoted(node.value)} has no attribute `{node.attr}` in a kernel",
                node,
                "unknown attribute",
                why="only arrays have attributes: shape, size, ndim and dtype",
                remedies=_attribute_remedies(owner, node),
            )


# --- locals and parameters -------------------------------------------------------------------------------------------


def _local(builder: Builder, node: ast.Name) -> Value:
    frame = builder.frame
    binding = frame.bindings.get(node.id)
    if frame.flow is None:
        return POISON if binding is None else binding_value(builder, binding, node)
    if binding is not None and node.id in frame.flow:
        return _placed(binding_value(builder, binding, node), builder, node)
    first = _first_assignment(frame, node.id)
    secondary = () if first is None else (Label(builder.span(first), "assigned here"),)
    outside = _meaning_outside(builder, frame, node.id)
    remedies = [f"assign `{node.id}` before, on every path"]
    if outside:
        remedies = [f"use another name for the local: `{node.id}` is also {outside}"]
    where = _after_loop(frame, node)
    builder.refuse(
        "IG106",
        f"`{node.id}` may be read before it is assigned",
        node,
        "not assigned on every path to here",
        why=where or "a local must have a value on every path that leads to its use",
        remedies=remedies,
        secondary=secondary,
    )


def _first_assignment(frame: Frame, name: str) -> ast.Name | None:
    for node in ast.walk(frame.captured.tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return node
    return None


def _after_loop(frame: Frame, node: ast.Name) -> str:
    """Why a loop's names have no value after it, where that is the cause."""
    for loop in ast.walk(frame.captured.tree):
        if isinstance(loop, ast.For | ast.While) and (loop.end_lineno or 0) < node.lineno:
            stored = {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            if node.id in stored:
                return f"the loop in line {loop.lineno} may run no trip, and then `{node.id}` has no value"
    return ""


def _meaning_outside(builder: Builder, frame: Frame, name: str) -> str:
    """What a name would be if the body did not assign it: an author may not know that assigning makes it a local."""
    try:
        value = builder.captures.read(frame.function, name)
    except LookupError:
        return ""
    return "a dimension" if isinstance(value, DimMeta) else "a name from outside the kernel"


def _placed(value: Value, builder: Builder, node: ast.expr) -> Value:
    """A parameter's value with the span of this use."""
    match value:
        case Typed(expression=k.ScalarValue(name=name, type=type), pending=pending):
            return Typed(k.ScalarValue(name, type, span=builder.span(node)), pending)
        case Typed(expression=k.Local(name=name, type=type), pending=pending):
            return Typed(k.Local(name, type, span=builder.span(node)), pending)
        case _:
            return value


def _refuse_unknown(builder: Builder, node: ast.Name) -> typing.NoReturn:
    frame = builder.frame
    known: list[str] = [*frame.locals, *frame.parameters, *frame.function.__globals__, *dir(builtins)]
    close = difflib.get_close_matches(node.id, known, n=1)
    builder.refuse(
        "IG105",
        f"`{node.id}` is not defined",
        node,
        "no local, parameter, global or builtin has this name",
        remedies=(f"did you mean `{close[0]}`?",) if close else (),
    )


# --- objects of the language -----------------------------------------------------------------------------------------


def _language_value(builder: Builder, value: Any, node: ast.expr, name: str) -> Value | None:
    spelling = language.spelling(value)
    if spelling is not None:
        return FunctionValue(spelling)
    scalar = language.scalar_of(value)
    if scalar is not None:
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
        )
    element = _ELEMENTS.get(array.dtype)
    if element is None or array.size == 0 or not 1 <= array.ndim <= 4:
        what = f"shape {array.shape}" if element is not None else f"dtype {array.dtype}"
        builder.refuse(
            "IG126",
            f"the table `{name}` has {what}, which no table may have",
            node,
            "not a table of the language",
            remedies=("a table has 1 to 4 axes, at least one element, and bool, integer or float elements",),
        )
    data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
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
    )


# --- attributes ------------------------------------------------------------------------------------------------------


def _array_attribute(builder: Builder, array: ArrayValue, node: ast.Attribute) -> Value:
    match node.attr:
        case "shape":
            return TupleValue(tuple(Typed(extent) for extent in array.extents))
        case "size":
            return Typed(size_of(array, builder.span(node)))
        case "ndim":
            return Literal(array.rank)
        case "dtype":
            return DtypeValue(array.element)
        case _:
            known = {"T": "swap the indices", "sum": "add in a loop, or use `ig.group_sum`", "copy": "use `ig.local`"}
            builder.refuse(
                "IG123",
                f"arrays have no attribute `{node.attr}` in a kernel",
                node,
                "unknown attribute",
                why="the attributes of an array are shape, size, ndim and dtype",
                remedies=(known[node.attr],) if node.attr in known else (),
            )


def size_of(array: ArrayValue, span: Any) -> k.Expr:
    """Number of elements; the launch has checked that it is below 2^63."""
    size = array.extents[0]
    for extent in array.extents[1:]:
        size = k.Binary("mul", size, extent, INDEX, checked=False, span=span)
    return size


def _module_attribute(builder: Builder, module: ModuleType, node: ast.Attribute) -> Value:
    try:
        value = builder.captures.attribute(module, node.attr)
    except AttributeError:
        close = difflib.get_close_matches(node.attr, dir(module), n=1)
        name = builder.text(node.value)
        builder.refuse(
            "IG105",
            f"module `{module.__name__}` has no `{node.attr}`",
            node,
            "not defined",
            remedies=(f"did you mean `{name}.{close[0]}`?",) if close else (),
        )
    if module is math and isinstance(value, float):
        return Literal(value)
    if module is builtins:
        return constant_value(builder, value, node, node.attr)
    return constant_value(builder, value, node, builder.text(node))


def _limit(builder: Builder, scalar: Scalar, node: ast.Attribute) -> Value:
    if node.attr not in ("min", "max"):
        builder.refuse("IG123", f"limits have no attribute `{node.attr}`", node, "write `.min` or `.max`")
    if scalar.is_float:
        info = np.finfo(np.float32 if scalar is Scalar.F32 else np.float64)
        return Typed(constant(builder, float(getattr(info, node.attr)), scalar, node))
    value = scalar.minimum if node.attr == "min" else scalar.maximum
    return Typed(k.Const(value, scalar.computing, span=builder.span(node)))


def _attribute_remedies(owner: Value, node: ast.Attribute) -> tuple[str, ...]:
    match owner:
        case Typed() | Literal():
            return (f"numbers have no methods: call a function, e.g. `math.{node.attr}(x)`",)
        case ObjectValue(object=FunctionType() | ModuleType()):
            return ()
        case ObjectValue():
            return ("give the kernel the number itself: bind it to a module-level name",)
        case _:
            return ()
