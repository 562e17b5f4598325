"""Expressions of kernel IR: lowered to a device expression, with lets, checks and branches emitted on the way.

What is returned is pure and may be used later in the same statement; loads are named where they happen.
"""

from collections.abc import Sequence
from typing import assert_never

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir import sites
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar
from isogrid.ir.walk import visit_exprs
from isogrid.lowering.builder import Array, Builder, flat_index, product
from isogrid.lowering.calls import lower_call
from isogrid.lowering.casts import lower_cast, widened
from isogrid.lowering.floats import lower_float_binary
from isogrid.lowering.integers import lower_integer_binary, lower_integer_unary
from isogrid.lowering.machine import FALSE, MACHINE, TRUE, literal, negated, op, resized, test
from isogrid.support.errors import CompilerBug

_INTEGER_COMPARISONS = {
    "eq": ("ieq", False),
    "ne": ("ine", False),
    "lt": ("lt", False),
    "le": ("le", False),
    "gt": ("lt", True),
    "ge": ("le", True),
}

#: A side of `and`, `or` or a conditional expression is evaluated without a branch up to this many operations.
_FLATTENED_OPERATIONS = 12


def lower_expression(builder: Builder, node: k.Expr) -> d.Expr:
    """The value of `node`; statements that it needs are emitted first, in the order of evaluation."""
    match node:
        case k.Const():
            return lower_constant(node)
        case k.Local():
            return builder.counters.get(node.name) or d.Value(node.name, MACHINE[node.type], span=node.span)
        case k.ScalarValue():
            return d.Argument("scalar", node.name, MACHINE[node.type], span=node.span)
        case k.DimValue():
            return d.Argument("dim", node.name, Machine.I64, span=node.span)
        case k.Query():
            return lower_query(builder, node)
        case k.Unary():
            return _unary(builder, node)
        case k.Binary():
            return _binary(builder, node)
        case k.Compare():
            return _compare(builder, node)
        case k.Logical():
            return _logical(builder, node)
        case k.Choose():
            return _choose(builder, node)
        case k.Cast():
            return lower_cast(builder, node, lower_expression(builder, node.value))
        case k.Call():
            arguments = tuple([lower_expression(builder, argument) for argument in node.arguments])
            return lower_call(builder, node, arguments)
        case k.Load():
            return _load(builder, node)
        case _:
            assert_never(node)


def lower_constant(node: k.Const) -> d.Literal:
    machine = MACHINE[node.type]
    return d.Literal(node.value & ((1 << machine.bits) - 1), machine, span=node.span)


# --- operators --------------------------------------------------------------------------------------------------------


def _unary(builder: Builder, node: k.Unary) -> d.Expr:
    operand = lower_expression(builder, node.operand)
    if node.op == "not":
        return negated(operand)
    if node.type.is_float:
        return op({"neg": "fneg", "abs": "fabs"}[node.op], MACHINE[node.type], operand, span=node.span)
    return lower_integer_unary(builder, node, operand)


def _binary(builder: Builder, node: k.Binary) -> d.Expr:
    left = lower_expression(builder, node.left)
    right = lower_expression(builder, node.right)
    if node.type.is_float:
        return lower_float_binary(builder, node, left, right)
    if node.type is Scalar.BOOL:
        name = {"and": "iand", "or": "ior", "xor": "ixor"}[node.op]
        return test(name, left, right, span=node.span)
    return lower_integer_binary(builder, node, left, right)


def _compare(builder: Builder, node: k.Compare) -> d.Expr:
    left = lower_expression(builder, node.left)
    right = lower_expression(builder, node.right)
    name, swapped = _INTEGER_COMPARISONS[node.op]
    operands = (right, left) if swapped else (left, right)
    type = node.left.type
    if type.is_float:
        return test({"ieq": "feq", "ine": "fne", "lt": "flt", "le": "fle"}[name], *operands, span=node.span)
    if name in ("lt", "le"):
        name = ("s" if type.is_signed else "u") + name
    return test(name, *operands, span=node.span)


def _logical(builder: Builder, node: k.Logical) -> d.Expr:
    left = lower_expression(builder, node.left)
    with builder.block() as statements:
        right = lower_expression(builder, node.right)
    conjunction = node.op == "and"
    if _are_cheap(statements) and _cost(statements, right) <= _FLATTENED_OPERATIONS:
        builder.emit_all(statements)
        return test("iand" if conjunction else "ior", left, right, span=node.span)
    if isinstance(left, d.Literal):
        if bool(left.bits) is not conjunction:
            return left
        builder.emit_all(statements)
        return right
    result = builder.variable(node.op, Machine.I1)
    builder.set(result, left)
    statements.append(d.Set(result.name, right, span=node.span))
    condition = result if conjunction else negated(result)
    builder.emit(d.If(condition, tuple(statements), span=node.span))
    return result


def _choose(builder: Builder, node: k.Choose) -> d.Expr:
    condition = lower_expression(builder, node.condition)
    with builder.block() as then_statements:
        then = lower_expression(builder, node.then)
    with builder.block() as otherwise_statements:
        otherwise = lower_expression(builder, node.otherwise)
    if isinstance(condition, d.Literal):
        builder.emit_all(then_statements if condition.bits else otherwise_statements)
        return then if condition.bits else otherwise
    sides = (*then_statements, *otherwise_statements)
    if _are_cheap(sides) and _cost(sides, then) + _operations(otherwise) <= _FLATTENED_OPERATIONS:
        builder.emit_all(list(sides))
        return op("select", MACHINE[node.type], condition, then, otherwise, span=node.span)
    result = builder.variable("choice", MACHINE[node.type])
    then_statements.append(d.Set(result.name, then, span=node.span))
    otherwise_statements.append(d.Set(result.name, otherwise, span=node.span))
    builder.emit(d.If(condition, tuple(then_statements), tuple(otherwise_statements), span=node.span))
    return result


def _are_cheap(statements: Sequence[d.Statement]) -> bool:
    """Whether they only name values of operations that are quick, and defined whatever the operands are."""
    return all(isinstance(s, d.Let) and all(_is_total(node) for node in visit_exprs(s.value)) for s in statements)


def _is_total(node: d.Expr) -> bool:
    return node.op not in _PARTIAL if isinstance(node, d.Op) else not isinstance(node, d.Load)


#: Slow operations, and those that need something of an operand which the condition may be there for.
_PARTIAL = frozenset(
    {"sdiv", "srem", "udiv", "urem", "shl", "lshr", "ashr", "fdiv", "fsqrt", "ffmod", "fptosi", "fptoui"}
)


def _cost(statements: Sequence[d.Statement], value: d.Expr) -> int:
    return _operations(value) + sum(_operations(s.value) for s in statements if isinstance(s, d.Let))


def _operations(value: d.Expr) -> int:
    match value:
        case d.Op():
            return 1 + sum(_operations(argument) for argument in value.arguments)
        case d.Load():
            return 1 + _operations(value.index)
        case d.Literal() | d.Value() | d.Argument() | d.Special():
            return 0
        case _:
            assert_never(value)


# --- queries ----------------------------------------------------------------------------------------------------------


def lower_query(builder: Builder, node: k.Query) -> d.Expr:
    """Coordinates from the target's axes; linear ones in C order, the last axis fastest."""
    axes = range(builder.kernel.geometry.rank)
    if node.axis is not None:
        return _along(builder, node.kind, node.axis)
    match node.kind:
        case "lane_id":
            return op("iand", Machine.I64, _linear_lid(builder), literal(builder.kernel.warp - 1, Machine.I64))
        case "warp_id":
            shift = literal(builder.kernel.warp.bit_length() - 1, Machine.I64)
            return op("lshr", Machine.I64, _linear_lid(builder), shift)
        case "group_size" | "num_groups" | "grid_size":
            return product(_along(builder, node.kind, axis) for axis in axes)
        case "gid" | "lid" | "group_id":
            if node.kind == "gid" and builder.kernel.grouped and len(axes) > 1:
                raise CompilerBug(f"{node.span}: a linear gid in a grouped kernel of more than one dimension")
            size = {"gid": "grid_size", "lid": "group_size", "group_id": "num_groups"}[node.kind]
            index = _along(builder, node.kind, 0)
            for axis in axes[1:]:
                scaled = op("imul", Machine.I64, index, _along(builder, size, axis))
                index = op("iadd", Machine.I64, scaled, _along(builder, node.kind, axis), span=node.span)
            return index
        case _:
            raise CompilerBug(f"{node.span}: no query {node.kind}")


def _linear_lid(builder: Builder) -> d.Expr:
    return lower_query(builder, k.Query("lid", None))


def _along(builder: Builder, kind: str, axis: int) -> d.Expr:
    geometry = builder.kernel.geometry
    match kind:
        case "gid":
            return d.Special("thread", axis)
        case "lid":
            return d.Special("local", axis)
        case "group_id":
            return d.Special("group", axis)
        case "group_size":
            return literal(geometry.block[axis], Machine.I64)
        case "num_groups":
            return d.Special("groups", axis)
        case "grid_size":
            if geometry.kind == "grid" and not builder.kernel.grouped:
                return d.Special("extent", axis)
            return product((d.Special("groups", axis), literal(geometry.block[axis], Machine.I64)))
        case _:
            raise CompilerBug(f"no query {kind}")


# --- memory -----------------------------------------------------------------------------------------------------------


def lower_subscript(
    builder: Builder, node: k.Load | k.Store | k.Atomic, array: Array, values: tuple[d.Expr, ...]
) -> d.Expr:
    """The element number of evaluated subscripts, checked from axis 0 on."""
    indices: list[d.Expr] = []
    for axis, (index, value, extent) in enumerate(zip(node.indices, values, array.extents, strict=True)):
        if node.checked[axis]:
            value = builder.atom(value, "index")
        # A negative index is a huge unsigned number, so one comparison tests both ends.
        wide = resized(value, index.type, Machine.I64)
        if node.checked[axis]:
            in_range: d.Expr = test("ult", wide, extent, span=node.span)
            if isinstance(wide, d.Literal) and isinstance(extent, d.Literal):
                in_range = TRUE if wide.bits < extent.bits else FALSE
            builder.check(in_range, sites.index_site(node, axis), value, extent)
        indices.append(wide)
    return flat_index(builder, array, tuple(indices))


def _load(builder: Builder, node: k.Load) -> d.Expr:
    array = builder.arrays[node.array]
    values = tuple([lower_expression(builder, index) for index in node.indices])
    index = lower_subscript(builder, node, array, values)
    element = builder.let(d.Load(node.array, index, MACHINE[array.element], span=node.span), node.array)
    return widened(element, array.element, node.span)
