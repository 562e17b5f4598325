"""Atomic updates: `ig.atomic_add` and its kin, and what a deterministic kernel may not do with them."""

import ast
from typing import Final, NoReturn

from isogrid.builtins.atomics import ATOMICS, AtomicRow
from isogrid.frontend import arrays, calls, expressions, refusals
from isogrid.frontend.coercion import as_type, scalar_operand, settle_type, stored
from isogrid.frontend.scope import AtomicUse, Builder
from isogrid.frontend.values import ArrayValue, Literal, NothingValue, Place, Typed, Value, is_atom
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar, Space

#: By spelling.
ROWS: Final = {row.spelling: row for row in ATOMICS.values()}


def atomic(builder: Builder, spelling: str, node: ast.Call) -> Value:
    row = ROWS[spelling]
    relaxed = not builder.definition.deterministic
    if not row.elements and not relaxed:
        _refuse_relaxed(builder, row, node)
    parameters = _PARAMETERS.get(row.name, ("array", "index", "value"))
    given = calls.arguments(builder, node, parameters)
    values = calls.evaluated(builder, given)
    name = builder.text(node.func)
    array = values["array"]
    if not isinstance(array, ArrayValue):
        builder.refuse(
            "IG130", f"`{name}` updates an array, and {builder.quoted(given['array'])} is none", given["array"],
            "not an array", remedies=(f"write `{name}(x, i, value)`",),
        )  # fmt: skip
    _check_atomic_array(builder, row, array, given["array"], name)
    arrays.check_updatable(builder, array, builder.span(given["array"]), "updated atomically")
    target = arrays.place_of(builder, array, values["index"], given["index"], node)
    last = "new" if row.name == "cas" else "value"
    operands = [_operand(builder, array, values[p], given[p]) for p in ("expected", last) if p in values]
    use = AtomicUse(row.name, name, builder.span(node), tuple(operands))
    builder.atomics.setdefault(array.name, []).append(use)
    if row.needs_one_value and not relaxed:
        _check_one_value(builder, operands, [given[p] for p in ("expected", last) if p in given], name)
    if row.name == "load":
        operands = [as_type(builder, Literal(0), array.element, node)]
    if not all(is_atom(o) for o in operands):
        target, operands = _kept(builder, target, operands)
    expected = operands[0] if row.name == "cas" else None
    total = row.totals and array.element.is_checked
    checked = (True,) * len(target.indices)
    old = builder.temporary("old") if relaxed and row.name != "store" else ""
    builder.emit(
        k.Atomic(
            row.name, array.name, target.indices, operands[-1], expected, array.element, array.space, checked, total,
            old, span=builder.span(node),
        )
    )  # fmt: skip
    return Typed(k.Local(old, array.element, span=builder.span(node))) if old else NothingValue(f"{name}(...)")


#: What atomics take where it is not `(array, index, value)`.
_PARAMETERS: Final = {"cas": ("array", "index", "expected", "new"), "load": ("array", "index")}


def _refuse_relaxed(builder: Builder, row: AtomicRow, node: ast.Call) -> NoReturn:
    name = builder.text(node.func)
    builder.refuse(
        "IG160",
        f"`{name}` sees the order of threads",
        node,
        "which value this meets depends on who came first",
        why="a deterministic kernel gives one result, whatever order its threads run in",
        remedies=(
            "let one launch write and another read with plain accesses",
            "or give the promise up: `@ig.kernel(..., deterministic=False)`",
        ),
    )


def _operand(builder: Builder, array: ArrayValue, value: Value, node: ast.expr) -> k.Expr:
    expression, _ = stored(builder, value, array.element, node, array.name)
    if expression.type is array.element:
        return expression
    operand = scalar_operand(builder, value, node, "given to an atomic")
    actual = operand.type if isinstance(operand, Typed) else settle_type(builder, operand, node).type
    builder.refuse(
        "IG139",
        f"`{array.name}` has {array.element.value} elements, but {builder.quoted(node)} is {actual.value}",
        node,
        f"this is {actual.value}",
        why="an atomic update does not narrow its value",
        remedies=(f"convert it: `{array.element.value}({builder.text(node)})`",),
    )


def _kept(builder: Builder, target: Place, operands: list[k.Expr]) -> tuple[Place, list[k.Expr]]:
    """Arguments are complete before the bounds are looked at, so they go to temporaries, in order."""
    indices = tuple(expressions.atom(builder, index, "index") for index in target.indices)
    return Place(target.array, indices, target.span), [expressions.atom(builder, o) for o in operands]


def _check_atomic_array(builder: Builder, row: AtomicRow, array: ArrayValue, node: ast.expr, name: str) -> None:
    if array.space is Space.LOCAL:
        builder.refuse(
            "IG139",
            f"`{array.name}` belongs to one thread, and `{name}` updates it atomically",
            node,
            "an `ig.local` array",
            remedies=(f"write a plain update: `{array.name}[i] += value`",),
        )
    deterministic = builder.definition.deterministic
    if row.accepts(array.element, deterministic):
        return
    if row.name == "add" and array.element in (Scalar.F32, Scalar.F64):
        builder.refuse(
            "IG160",
            f"`{name}` adds {array.element.value} values, whose sum depends on the order",
            node,
            f"{array.element.value} elements",
            why="float addition rounds, so each order of updates may give other bits",
            remedies=(
                "sum within the group in the fixed order of `ig.group_sum`, one element per group",
                "or add scaled integers: `ig.atomic_add(total, i, i64(v * 65536.0))`",
                "or give the promise of equal bits up: `@ig.kernel(..., deterministic=False)`",
            ),
        )
    kinds = "i32, i64, u32, u64, w32 or w64" + (", f32 or f64" if row.accepts(Scalar.F32, deterministic) else "")
    builder.refuse(
        "IG139",
        f"`{name}` is not defined for {array.element.value} elements",
        node,
        f"`{array.name}` has {array.element.value} elements",
        remedies=(f"use an array of {kinds}",),
    )


def _check_one_value(builder: Builder, operands: list[k.Expr], nodes: list[ast.expr], name: str) -> None:
    for operand, node in zip(operands, nodes, strict=True):
        if not _same_for_launch(operand):
            builder.refuse(
                "IG140",
                f"`{name}` gets {builder.quoted(node)}, which may differ between threads",
                node,
                "not the same value for the whole launch",
                why="the element would hold whichever thread came last",
                remedies=(
                    "give it a literal, a scalar parameter or a size",
                    "or let the last one win: `@ig.kernel(..., deterministic=False)`",
                ),
            )


def _same_for_launch(expression: k.Expr) -> bool:
    match expression:
        case k.Const() | k.ScalarValue() | k.DimValue():
            return True
        case k.Unary(operand=operand):
            return _same_for_launch(operand)
        case k.Binary(left=left, right=right) | k.Compare(left=left, right=right):
            return _same_for_launch(left) and _same_for_launch(right)
        case k.Cast(value=value):
            return _same_for_launch(value)
        case _:
            return False


def check_atomics(builder: Builder) -> None:
    """`exchange` and `cas`: every access to the array is that very call."""
    if not builder.definition.deterministic:
        return
    for name, uses in builder.atomics.items():
        single = next((u for u in uses if ATOMICS[u.op].needs_one_value), None)
        if single is None:
            continue
        others = [u.span for u in uses if (u.op, u.operands) != (single.op, single.operands)]
        others += builder.accesses.get(name, [])
        for span in others[:1]:
            refusals.report_mixed_atomics(builder, name, single, span)
