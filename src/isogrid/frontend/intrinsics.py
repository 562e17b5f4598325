"""Functions of `ig` that are more than a value: queries, storage, barriers, group operations."""

import ast
from collections.abc import Callable, Mapping
from typing import Final, NoReturn, TypeAlias

from isogrid.builtins.atomics import ATOMICS
from isogrid.builtins.collectives import COLLECTIVES
from isogrid.builtins.queries import QUERIES, QueryRow
from isogrid.builtins.warps import WARP_OPERATIONS
from isogrid.frontend import atomics, calls, expressions, operators, pair_calls
from isogrid.frontend.coercion import as_type, number
from isogrid.frontend.geometry import ceiling_division
from isogrid.frontend.scope import Builder
from isogrid.frontend.shapes import constant_shape
from isogrid.frontend.values import (
    ArrayValue,
    DtypeValue,
    LimitsValue,
    Literal,
    NothingValue,
    TupleValue,
    Typed,
    Value,
    is_atom,
)
from isogrid.ir import kernel as k
from isogrid.ir.operations import ARRAY_FACTS
from isogrid.ir.types import INDEX, Access, Scalar, Space

Handler: TypeAlias = Callable[[Builder, str, ast.Call], Value]


# --- queries ---------------------------------------------------------------------------------------------------------


def _query(builder: Builder, spelling: str, node: ast.Call) -> Value:
    row = _QUERY_ROWS[spelling]
    builder.grouped |= row.group_only
    if row.of_warp:
        return _warp_query(builder, row, node)
    if row.tuple_of:
        calls.arguments(builder, node, ())
        return TupleValue(tuple(Typed(_placed(builder, row.tuple_of, a, node)) for a in range(builder.rank)))
    given = calls.arguments(builder, node, ("axis",), optional=1)
    if not given:
        return Typed(_linear(builder, row, node))
    axis = _axis(builder, row, given["axis"])
    return Typed(_placed(builder, row.name, axis, node))


def _warp_query(builder: Builder, row: QueryRow, node: ast.Call) -> Value:
    calls.arguments(builder, node, ())
    span = builder.span(node)
    if row.name == "warp_size":
        return Typed(k.Const(builder.definition.warp, INDEX, span=span))
    return Typed(k.Query(row.name, None, span=span))


def _linear(builder: Builder, row: QueryRow, node: ast.Call) -> k.Expr:
    if builder.rank == 1:
        return _placed(builder, row.name, 0, node)
    if row.linear_refused:
        builder.bare_gids.append((builder.span(node), builder.frame))
    if row.name == "group_size":
        size = 1
        for extent in builder.block_shape:
            size *= extent
        return k.Const(size, INDEX, span=builder.span(node))
    return k.Query(row.name, None, span=builder.span(node))


def _placed(builder: Builder, name: str, axis: int, node: ast.Call) -> k.Expr:
    if name == "group_size":
        return k.Const(builder.block_shape[axis], INDEX, span=builder.span(node))
    return k.Query(name, axis, span=builder.span(node))


def _axis(builder: Builder, row: QueryRow, node: ast.expr) -> int:
    value = expressions.evaluate(builder, node)
    if isinstance(value, Literal) and isinstance(value.value, int) and not isinstance(value.value, bool):
        if 0 <= value.value < builder.rank:
            return value.value
        axes = "the axis 0 only" if builder.rank == 1 else f"the axes 0 to {builder.rank - 1}"
        builder.refuse(
            "IG141",
            f"`{row.name}` has no axis {value.value} in this kernel",
            node,
            f"the grid has {axes}",
            remedies=("axis 0 is the slowest, as in a C-ordered array",),
        )
    builder.refuse(
        "IG141",
        f"the axis of `{row.name}` is not a literal",
        node,
        f"{builder.quoted(node)} is known only at run time",
        remedies=(f"write `{row.name}(0)`, or take a component of `{row.name}s()`",),
    )


# --- storage ---------------------------------------------------------------------------------------------------------


def _shared(builder: Builder, spelling: str, node: ast.Call) -> Value:
    if not builder.frame.is_kernel or builder.frame.depth > 0:
        inside = "a helper" if not builder.frame.is_kernel else "a loop or branch"
        builder.refuse(
            "IG133",
            f"`ig.shared` stands inside {inside}",
            node,
            "not at the top level of the kernel",
            why="a shared array exists once per group, from before its first thread runs",
            remedies=(
                "move the line to the top level of the kernel body"
                + (", and pass the array to the helper" if not builder.frame.is_kernel else ""),
            ),
        )
    element, shape = _storage(builder, node)
    builder.grouped = True
    name = builder.fresh(builder.targets.get(id(node), "shared"))
    builder.shared.append(k.SharedArray(name, element, shape, span=builder.span(node)))
    return _array(builder, name, element, shape, Space.SHARED, node)


def _local(builder: Builder, spelling: str, node: ast.Call) -> Value:
    element, shape = _storage(builder, node)
    name = _local_name(builder, node)
    builder.emit(k.DeclareLocal(name, element, shape, span=builder.span(node)))
    return _array(builder, name, element, shape, Space.LOCAL, node)


def _local_name(builder: Builder, node: ast.Call) -> str:
    """One name per statement, also when a loop over a tuple builds the statement several times."""
    target = builder.targets.get(id(node), "local")
    return builder.array_name(target, node)


def _array(
    builder: Builder, name: str, element: Scalar, shape: tuple[int, ...], space: Space, node: ast.Call
) -> ArrayValue:
    extents = tuple(k.Const(e, INDEX, span=builder.span(node)) for e in shape)
    return ArrayValue(name, element, extents, space, Access.INOUT)


def _dtype_and_shape(builder: Builder, values: dict[str, Value], given: dict[str, ast.expr]) -> str:
    """The arguments in their order, which NumPy has the other way round."""
    if isinstance(values["shape"], DtypeValue):
        return f"{builder.text(given['shape'])}, {builder.text(given['dtype'])}"
    return f"f32, {builder.text(given['shape'])}"


def _storage(builder: Builder, node: ast.Call) -> tuple[Scalar, tuple[int, ...]]:
    given = calls.arguments(builder, node, ("dtype", "shape"))
    values = calls.evaluated(builder, given)
    dtype = values["dtype"]
    if not isinstance(dtype, DtypeValue):
        builder.refuse(
            "IG130",
            f"{builder.quoted(node.func)} takes a dtype first, and {builder.quoted(given['dtype'])} is none",
            given["dtype"],
            "not a dtype",
            remedies=(f"write `{builder.text(node.func)}({_dtype_and_shape(builder, values, given)})`",),
        )
    return dtype.scalar, constant_shape(builder, values["shape"], given["shape"], dtype.scalar)


# --- barriers and group operations -----------------------------------------------------------------------------------


def _barrier(builder: Builder, spelling: str, node: ast.Call) -> Value:
    calls.arguments(builder, node, ())
    builder.grouped = True
    builder.emit(k.Barrier(span=builder.span(node)))
    return NothingValue(f"{builder.text(node.func)}()")


def _warp_barrier(builder: Builder, spelling: str, node: ast.Call) -> Value:
    calls.arguments(builder, node, ())
    builder.grouped = True
    builder.emit(k.WarpBarrier(span=builder.span(node)))
    return NothingValue(f"{builder.text(node.func)}()")


def _warp_collective(builder: Builder, spelling: str, node: ast.Call) -> Value:
    row = _WARP_ROWS[spelling]
    name = spelling.removeprefix("isogrid.")
    parameters = ("value", row.lane) if row.lane else ("value", "exclusive") if row.op == "scan" else ("value",)
    given = calls.arguments(builder, node, parameters, optional=int(row.op == "scan"))
    flag = given.pop("exclusive", None)
    values = calls.evaluated(builder, given)
    value = number(builder, values["value"], given["value"], f"given to `{name}`")
    if value.type not in row.types and not value.pending:
        _refuse_collective(builder, name, row.types, value.type, given["value"])
    expression, lane = value.expression, None
    if row.lane:
        lane = _lane_operand(builder, name, values[row.lane], given[row.lane])
        if list(given) != list(parameters):
            # Written as keywords in another order: evaluated as written.
            lane = expressions.atom(builder, lane)
    builder.grouped = True
    target = builder.temporary(row.op)
    result = row.result(value.type, builder.definition.warp)
    builder.emit(
        k.WarpCollective(
            row.op,
            target,
            expression,
            lane,
            value.type,
            result,
            exclusive=flag is not None and _flag(builder, flag),
            total_checked=row.totals and value.type.is_checked,
            span=builder.span(node),
        )
    )
    return Typed(k.Local(target, result, span=builder.span(node)), value.pending and result is value.type)


def _lane_operand(builder: Builder, name: str, value: Value, node: ast.expr) -> k.Expr:
    """A lane, distance or mask: any integer counts by its value; a literal is an index."""
    operand = number(builder, value, node, f"given to `{name}`")
    if not operand.type.is_integer:
        builder.refuse(
            "IG130",
            f"`{name}` names a lane by an integer, and {builder.quoted(node)} is {operand.type.value}",
            node,
            f"this is {operand.type.value}",
            remedies=(f"convert it: `int({builder.text(node)})`",),
        )
    return operand.expression


def _collective(builder: Builder, spelling: str, node: ast.Call) -> Value:
    row = _COLLECTIVE_ROWS[spelling]
    exclusive = row.op == "scan"
    given = calls.arguments(builder, node, ("value", "exclusive") if exclusive else ("value",), optional=int(exclusive))
    flag = given.pop("exclusive", None)
    value = number(builder, calls.evaluated(builder, given)["value"], given["value"], f"given to `group_{row.op}`")
    if value.type not in row.types and not value.pending:
        _refuse_collective(builder, f"group_{row.op}", row.types, value.type, given["value"])
    builder.grouped = True
    target = builder.temporary(row.op)
    builder.emit(
        k.Collective(
            row.op,
            target,
            value.expression,
            value.type,
            exclusive=flag is not None and _flag(builder, flag),
            total_checked=row.totals and value.type.is_checked,
            span=builder.span(node),
        )
    )
    return Typed(k.Local(target, value.type, span=builder.span(node)), value.pending)


def _refuse_collective(
    builder: Builder, name: str, types: tuple[Scalar, ...], type: Scalar, node: ast.expr
) -> NoReturn:
    wanted = "a bool" if types == (Scalar.BOOL,) else "a number"
    remedy = (
        f"compare: `{builder.text(node)} != 0`" if wanted == "a bool" else f"convert it: `int({builder.text(node)})`"
    )
    builder.refuse(
        "IG130",
        f"`{name}` takes {wanted}, and {builder.quoted(node)} is {type.value}",
        node,
        f"this is {type.value}",
        remedies=(remedy,),
    )


def _flag(builder: Builder, node: ast.expr) -> bool:
    value = expressions.evaluate(builder, node)
    if isinstance(value, Literal) and isinstance(value.value, bool):
        return value.value
    builder.refuse("IG130", "`exclusive` is True or False, known at compile time", node, "not a literal")


# --- values ----------------------------------------------------------------------------------------------------------


def _cdiv(builder: Builder, spelling: str, node: ast.Call) -> Value:
    given = calls.arguments(builder, node, ("a", "b"))
    values = calls.evaluated(builder, given)
    a, b = values["a"], values["b"]
    if isinstance(a, Literal) and isinstance(b, Literal):
        return operators.fold_call(builder, _ceiling, (a.value, b.value), node)
    nodes = (given["a"], given["b"])
    total = operators.binary(builder, "floordiv", a, b, nodes, node)
    if not isinstance(total, Typed) or not isinstance(total.expression, k.Binary) or not total.type.is_integer:
        builder.refuse(
            "IG130", f"`{builder.text(node.func)}` divides integers", node, "these are no integers",
            remedies=("convert both to integers",),
        )  # fmt: skip
    left, right = total.expression.left, total.expression.right
    if not is_atom(right):
        left = expressions.atom(builder, left)
        right = expressions.atom(builder, right)
    if total.type is INDEX:
        return Typed(ceiling_division(left, right, builder.span(node)), total.pending)
    one = Literal(1)
    less = operators.binary(builder, "sub", Typed(right), one, (nodes[1], node), node)
    added = operators.binary(builder, "add", Typed(left), less, (nodes[0], node), node)
    return operators.binary(builder, "floordiv", added, Typed(right), (node, nodes[1]), node)


def _ceiling(a: int, b: int) -> int:
    return -(-a // b)


def _is_power_of_two(builder: Builder, spelling: str, node: ast.Call) -> Value:
    """n > 0 and (n & (n - 1)) == 0; the subtraction cannot overflow where it is reached."""
    given = calls.arguments(builder, node, ("n",))
    value = number(builder, calls.evaluated(builder, given)["n"], given["n"], "given to `is_power_of_two`")
    if not value.type.is_integer:
        builder.refuse(
            "IG130", f"`is_power_of_two` takes an integer, and {builder.quoted(given['n'])} is {value.type.value}",
            given["n"], f"this is {value.type.value}",
        )  # fmt: skip
    span = builder.span(node)
    n = expressions.atom(builder, value.expression)
    zero, one = (as_type(builder, Literal(v), value.type, node) for v in (0, 1))
    less = k.Binary("sub", n, one, value.type, checked=False, span=span)
    bits = k.Binary("and", n, less, value.type, checked=False, span=span)
    positive, single = k.Compare("gt", n, zero, span=span), k.Compare("eq", bits, zero, span=span)
    return Typed(k.Logical("and", positive, single, span=span))


def _limits(builder: Builder, spelling: str, node: ast.Call) -> Value:
    given = calls.arguments(builder, node, ("dtype",))
    value = calls.evaluated(builder, given)["dtype"]
    if not isinstance(value, DtypeValue) or value.scalar is Scalar.BOOL:
        builder.refuse(
            "IG130", f"`ig.limits` takes a number's dtype, and {builder.quoted(given['dtype'])} is none",
            given["dtype"], "not the dtype of a number", remedies=("write `ig.limits(i32).max`",),
        )  # fmt: skip
    return LimitsValue(value.scalar)


# --- misplaced and missing -------------------------------------------------------------------------------------------


def _require(builder: Builder, spelling: str, node: ast.Call) -> Value:
    builder.refuse(
        "IG143",
        "`ig.require` stands below the head of the kernel",
        node,
        "checked once per launch, before any thread",
        why="a precondition is about the launch, not about a thread",
        remedies=("move it to the first lines of the kernel", "for a check in each thread, write `assert`"),
    )


def _unroll(builder: Builder, spelling: str, node: ast.Call) -> Value:
    builder.refuse(
        "IG145",
        "`ig.unroll` stands outside the head of a loop",
        node,
        "no loop to unroll",
        remedies=("write `for i in ig.unroll(range(n), 4):` or `while ig.unroll(condition, 4):`",),
    )


def _array_fact(builder: Builder, spelling: str, node: ast.Call) -> Value:
    name = builder.text(node.func)
    builder.refuse(
        "IG143",
        f"`{name}` stands outside a precondition",
        node,
        "checked once per launch, before any thread",
        why="it is about a whole array, not about a thread",
        remedies=(f"write `ig.require({builder.text(node)})` in the first lines of the kernel",),
    )


_QUERY_ROWS: Final = {row.spelling: row for row in QUERIES.values()}
_COLLECTIVE_ROWS: Final = {row.spelling: row for row in COLLECTIVES.values()}
_WARP_ROWS: Final = {row.spelling: row for row in WARP_OPERATIONS.values()}

#: Every function of `ig` that this file builds, by spelling.
INTRINSICS: Final[Mapping[str, Handler]] = {
    **dict.fromkeys(_QUERY_ROWS, _query),
    **dict.fromkeys(_COLLECTIVE_ROWS, _collective),
    **dict.fromkeys(_WARP_ROWS, _warp_collective),
    **{
        row.spelling: lambda builder, spelling, node: atomics.atomic(builder, spelling, node)
        for row in ATOMICS.values()
    },
    **{f"isogrid.{name}": _array_fact for name in ARRAY_FACTS},
    "isogrid.shared": _shared,
    "isogrid.local": _local,
    "isogrid.barrier": _barrier,
    "isogrid.warp_barrier": _warp_barrier,
    "isogrid.cdiv": _cdiv,
    "isogrid.is_power_of_two": _is_power_of_two,
    "isogrid.sincos": lambda builder, spelling, node: pair_calls.sincos(builder, spelling, node),
    "math.frexp": lambda builder, spelling, node: pair_calls.frexp(builder, spelling, node),
    "isogrid.limits": _limits,
    "isogrid.require": _require,
    "isogrid.unroll": _unroll,
}
