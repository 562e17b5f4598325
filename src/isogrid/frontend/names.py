"""What a name or attribute means in a body: a local, a parameter, something from outside, or nothing."""

import ast
import builtins
import difflib
import enum
import inspect
import math
import typing
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from isogrid.builtins import floats
from isogrid.builtins.conversions import STORED_FLOATS
from isogrid.diagnostics.report import Label
from isogrid.frontend.coercion import constant
from isogrid.frontend.dims import DimMeta
from isogrid.frontend.foreign import meant_by
from isogrid.frontend.outside import constant_value
from isogrid.frontend.scope import Binding, Builder, Fixed, Frame, Variable, VariableTuple
from isogrid.frontend.values import (
    POISON,
    ArrayValue,
    DtypeValue,
    LimitsValue,
    Literal,
    ObjectValue,
    TupleValue,
    Typed,
    Value,
)
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Scalar


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
                remedies=(
                    f"it is {scalar.size}"
                    if node.attr == "itemsize"
                    else f"write `ig.limits({scalar.value}).{node.attr}`",
                ),
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
    meant = meant_by(node.id)
    builder.refuse(
        "IG105",
        f"`{node.id}` is not defined",
        node,
        "no local, parameter, global or builtin has this name",
        remedies=(f"write `{meant}`",) if meant else (f"did you mean `{close[0]}`?",) if close else (),
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
        meant = meant_by(node.attr)
        builder.refuse(
            "IG105",
            f"module `{module.__name__}` has no `{node.attr}`",
            node,
            "not defined",
            remedies=(f"write `{meant}`",) if meant else (f"did you mean `{name}.{close[0]}`?",) if close else (),
        )
    if module is math and isinstance(value, float):
        return Literal(value)
    if module is builtins:
        return constant_value(builder, value, node, node.attr)
    return constant_value(builder, value, node, builder.text(node))


def _limit(builder: Builder, scalar: Scalar, node: ast.Attribute) -> Value:
    if node.attr not in ("min", "max"):
        builder.refuse("IG123", f"limits have no attribute `{node.attr}`", node, "write `.min` or `.max`")
    if scalar in STORED_FLOATS:
        largest = floats.LARGEST[scalar]
        return Typed(constant(builder, largest if node.attr == "max" else -largest, scalar.computing, node))
    if scalar.is_float:
        info = np.finfo(np.float32 if scalar is Scalar.F32 else np.float64)
        return Typed(constant(builder, float(getattr(info, node.attr)), scalar, node))
    value = scalar.minimum if node.attr == "min" else scalar.maximum
    return Typed(k.Const(value, scalar.computing, span=builder.span(node)))


def _attribute_remedies(owner: Value, node: ast.Attribute) -> tuple[str, ...]:
    match owner:
        case Typed() | Literal():
            meant = meant_by(node.attr)
            return (f"numbers have no methods: write `{meant}`" if meant else "numbers have no attributes",)
        case TupleValue():
            return (f"the values of a tuple have numbers, from 0 on: `{ast.unparse(node.value)}[0]`",)
        case ObjectValue(object=FunctionType() | ModuleType()):
            return ()
        case ObjectValue():
            return ("give the kernel the number itself: bind it to a module-level name",)
        case _:
            return ()
