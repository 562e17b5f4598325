"""What a `for` goes over: a range, an array, a tuple, and `enumerate` and `zip` of them."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn, TypeAlias

from isogrid.frontend import arrays, calls, expressions, refusals
from isogrid.frontend.coercion import default_type, scalar_operand, unify
from isogrid.frontend.inference import literal_type
from isogrid.frontend.scope import Builder
from isogrid.frontend.shapes import known_number
from isogrid.frontend.values import (
    ArrayValue,
    FunctionValue,
    Literal,
    Poison,
    TupleValue,
    Typed,
    Untyped,
    Value,
    article,
    describe,
)
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Scalar
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Listed:
    """Items known one by one: the body is built once for each. `limit`, if there is one, ends the loop before an item
    whose number has reached it."""

    count: int
    item: Callable[[Builder, int], Value]
    limit: k.Expr | None = None
    runs: bool = True


@dataclass(frozen=True, slots=True)
class Counted:
    """An IR loop. `value` makes a trip's value from the counter; None where it is the counter itself.

    `from_zero` says that the counter counts 0, 1, 2...; `runs` that there is at least one trip.
    """

    start: k.Expr
    stop: k.Expr
    step: k.Expr
    type: Scalar
    setup: tuple[k.Statement, ...] = ()
    value: Callable[[Builder, k.Expr], Value] | None = None
    from_zero: bool = False
    runs: bool = False
    step_checked: bool = False
    pending: bool = False
    stem: str = "trip"

    def value_of(self, builder: Builder, counter: k.Expr) -> Value:
        """The value of the trip in which the counter is `counter`."""
        return Typed(counter) if self.value is None else self.value(builder, counter)


Iterable: TypeAlias = Listed | Counted


def read(builder: Builder, node: ast.expr) -> Iterable:
    """What the head of a `for` names."""
    if isinstance(node, ast.Call):
        called = expressions.evaluate(builder, node.func)
        match called:
            case FunctionValue(spelling="builtins.range"):
                return _range(builder, node)
            case FunctionValue(spelling="builtins.enumerate"):
                return _enumerate(builder, node)
            case FunctionValue(spelling="builtins.zip"):
                return _zip(builder, node)
            case FunctionValue(spelling="builtins.reversed"):
                _refuse_reversed(builder, node)
            case _:
                pass
    if isinstance(node, ast.List | ast.Set | ast.Dict):
        refusals.refuse_expression(builder, node)
    value = expressions.evaluate(builder, node)
    match value:
        case ArrayValue():
            return _array(builder, value, node)
        case TupleValue():
            kept = expressions.keep_here(builder, value, for_good=True)
            return _items(kept.items if isinstance(kept, TupleValue) else ())
        case Poison():
            builder.give_up()
        case _:
            _refuse(builder, value, node)


def _items(items: Sequence[Value]) -> Listed:
    return Listed(len(items), lambda _, number: items[number], runs=len(items) > 0)


# --- ranges ----------------------------------------------------------------------------------------------------------


def _range(builder: Builder, node: ast.Call) -> Counted:
    _check_count(builder, node)
    values = expressions.evaluate_all(builder, node.args)
    if any(isinstance(v, Poison) for v in values):
        builder.give_up()
    nodes: list[ast.expr] = list(node.args)
    scalars = [scalar_operand(builder, v, n, "given to `range`") for v, n in zip(values, nodes, strict=True)]
    for scalar, part in zip(scalars, nodes, strict=True):
        _check_bound(builder, scalar, part)
    type, parts, pending = unify(builder, scalars, nodes, node, "`range`")
    span = builder.span(node)
    zero, one = k.Const(0, type, span=span), k.Const(1, type, span=span)
    match parts:
        case (stop,):
            start, step = zero, one
        case (start, stop):
            step = one
        case (start, stop, step):
            pass
        case _:
            builder.give_up()
    literal_step = scalars[2] if len(scalars) == 3 else Literal(1)
    if isinstance(literal_step, Literal) and literal_step.value == 0:
        builder.refuse("IG136", "the step of `range` is 0", nodes[2], "the loop would not advance")
    return Counted(
        start,
        stop,
        step,
        type,
        from_zero=isinstance(start, k.Const) and start.value == 0 and isinstance(step, k.Const) and step.value == 1,
        runs=_runs(builder, scalars),
        step_checked=not isinstance(literal_step, Literal),
        pending=pending,
    )


def _check_count(builder: Builder, node: ast.Call) -> None:
    for keyword in node.keywords:
        builder.refuse("IG129", "`range` takes no keywords", keyword, "not supported")
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            refusals.refuse_expression(builder, argument)
    if not 1 <= len(node.args) <= 3:
        builder.refuse(
            "IG136", f"`range` takes 1 to 3 arguments, and {len(node.args)} are given", node, "start, stop, step"
        )


def _check_bound(builder: Builder, scalar: Typed | Untyped, node: ast.expr) -> None:
    type = scalar.type if isinstance(scalar, Typed) else default_type(scalar)
    if type.is_checked or (isinstance(scalar, Typed) and scalar.pending):
        return
    remedy = f"convert it: `int({builder.text(node)})`"
    if isinstance(scalar, Literal) and type.is_float:
        remedy = "count whole steps and compute with them: `for j in range(10):` and `v = 0.1 * f32(j)`"
    builder.refuse(
        "IG136",
        f"`range` counts with {builder.quoted(node)}, which is {type.value}",
        node,
        f"this is {type.value}",
        why="a loop counts with i32, i64, u32 or u64",
        remedies=(remedy,),
    )


def _runs(builder: Builder, scalars: Sequence[Typed | Untyped]) -> bool:
    """Whether the range is known to have a trip."""
    numbers = [known_number(builder, s) for s in scalars]
    known = [int(n) for n in numbers if n is not None]
    if len(known) != len(numbers) or (len(known) == 3 and known[2] == 0):
        return False
    return bool(range(*known))


# --- arrays ----------------------------------------------------------------------------------------------------------


def _array(builder: Builder, array: ArrayValue, node: ast.expr) -> Counted:
    """One load per trip, at its start; the rows of an array of higher rank."""
    arrays.check_readable(builder, array, builder.span(node))
    kept = expressions.keep_here(builder, array, for_good=True)
    if not isinstance(kept, ArrayValue):
        builder.give_up()
    span = builder.span(node)

    def value(inner: Builder, counter: k.Expr) -> Value:
        row = replace(kept, leading=(*kept.leading, counter))
        if row.rank:
            return row
        inner.accesses.setdefault(row.name, []).append(span)
        # The rows before were not looked at, so only the counter is known to be in range.
        checked = (*(True for _ in kept.leading), False)
        return Typed(k.Load(row.name, row.leading, row.element.computing, row.space, checked, span=span))

    extent = array.extents[0]
    runs = isinstance(extent, k.Const) and extent.value > 0
    return Counted(*_from_zero(extent, node, builder), INDEX, value=value, from_zero=True, runs=runs)


def _from_zero(stop: k.Expr, node: ast.expr, builder: Builder) -> tuple[k.Expr, k.Expr, k.Expr]:
    span = builder.span(node)
    return k.Const(0, INDEX, span=span), stop, k.Const(1, INDEX, span=span)


# --- enumerate and zip -----------------------------------------------------------------------------------------------


def _enumerate(builder: Builder, node: ast.Call) -> Iterable:
    given = calls.arguments(builder, node, ("iterable", "start"), optional=1)
    inner = read(builder, given["iterable"])
    first: Value = Literal(0)
    if "start" in given:
        first = expressions.keep_here(builder, expressions.evaluate(builder, given["start"]), for_good=True)
    if isinstance(first, Poison):
        builder.give_up()
    _check_start(builder, first, given.get("start", node))
    if isinstance(inner, Listed):
        return _enumerated_items(builder, inner, first, given.get("start", node))
    if not inner.from_zero or first != Literal(0):
        return _enumerated_by_counting(builder, inner, first, node)

    def value(trip: Builder, counter: k.Expr) -> Value:
        return TupleValue((Typed(counter), inner.value_of(trip, counter)))

    return replace(inner, value=value)


def _check_start(builder: Builder, first: Value, node: ast.expr) -> None:
    operand = scalar_operand(builder, first, node, "given to `enumerate`")
    type = operand.type if isinstance(operand, Typed) else default_type(operand)
    if not type.is_checked:
        builder.refuse(
            "IG136", f"`enumerate` counts from {builder.quoted(node)}, which is {type.value}", node, "no integer"
        )


def _enumerated_items(builder: Builder, inner: Listed, first: Value, node: ast.expr) -> Listed:
    if not isinstance(first, Literal):
        builder.refuse(
            "IG135", "`enumerate` of a tuple counts from a run-time value", node, "not a literal",
            remedies=("count from 0 and add the start in the body",),
        )  # fmt: skip
    start = int(first.value)

    def item(trip: Builder, number: int) -> Value:
        return TupleValue((Literal(start + number), inner.item(trip, number)))

    return replace(inner, item=item)


def _enumerated_by_counting(builder: Builder, inner: Counted, first: Value, node: ast.Call) -> Counted:
    """The count is kept apart where it is not the counter."""
    name = builder.temporary("count")
    span = builder.span(node)
    type = first.type if isinstance(first, Typed) else literal_type(0)
    start = first.expression if isinstance(first, Typed) else k.Const(_integer(first), type, span=span)

    def value(b: Builder, counter: k.Expr) -> Value:
        count = k.Local(name, type, span=span)
        shown = b.temporary("count")
        b.emit(k.Assign(shown, count, span=span))
        b.emit(k.Assign(name, k.Binary("add", count, k.Const(1, type, span=span), type, span=span), span=span))
        return TupleValue((Typed(k.Local(shown, type, span=span)), inner.value_of(b, counter)))

    return replace(inner, setup=(*inner.setup, k.Assign(name, start, span=span)), value=value, from_zero=False)


def _integer(value: Value) -> int:
    return int(value.value) if isinstance(value, Literal) else 0


def _zip(builder: Builder, node: ast.Call) -> Iterable:
    for keyword in node.keywords:
        if keyword.arg == "strict" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False:
            continue
        builder.refuse(
            "IG129",
            "`zip` takes no keyword in a kernel but `strict=False`",
            keyword,
            "not supported",
            remedies=("for arrays of one length, give them the same dimension",),
        )
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            refusals.refuse_expression(builder, argument)
    if not node.args:
        builder.refuse("IG135", "`zip` of nothing", node, "no iterables")
    inners = [read(builder, argument) for argument in node.args]
    counted = [i for i in inners if isinstance(i, Counted)]
    for inner, argument in zip(inners, node.args, strict=True):
        if isinstance(inner, Counted) and (not inner.from_zero or inner.type is not INDEX):
            _refuse_zip(builder, argument)
    if len(counted) < len(inners):
        return _zipped_items(builder, inners, node)
    stop = _shortest(builder, counted, node)
    start, stop, step = _from_zero(stop, node, builder)
    return Counted(
        start,
        stop,
        step,
        INDEX,
        setup=tuple(s for i in counted for s in i.setup),
        value=lambda b, c: TupleValue(tuple(i.value_of(b, c) for i in counted)),
        from_zero=True,
        runs=all(i.runs for i in counted),
    )


def _shortest(builder: Builder, counted: Sequence[Counted], node: ast.Call) -> k.Expr:
    stop = counted[0].stop
    for other in counted[1:]:
        if other.stop != stop:
            stop = k.Binary("min", stop, other.stop, INDEX, checked=False, span=builder.span(node))
    return stop


def _zipped_items(builder: Builder, inners: Sequence[Iterable], node: ast.Call) -> Listed:
    """With a tuple among them: one copy of the body per item of the shortest tuple, until the others end."""
    listed = [i for i in inners if isinstance(i, Listed)]
    counted = [i for i in inners if isinstance(i, Counted)]
    limits = [i.limit for i in listed if i.limit is not None]
    if counted:
        for setup in (s for i in counted for s in i.setup):
            builder.emit(setup)
        limits.append(_shortest(builder, counted, node))
    limit: k.Expr | None = None
    for other in limits:
        limit = other if limit is None else k.Binary("min", limit, other, INDEX, checked=False, span=builder.span(node))
    if limit is not None:
        limit = expressions.atom(builder, limit, "length")

    def item(trip: Builder, number: int) -> Value:
        at = k.Const(number, INDEX, span=builder.span(node))
        return TupleValue(
            tuple(i.item(trip, number) if isinstance(i, Listed) else i.value_of(trip, at) for i in inners)
        )

    return Listed(min(i.count for i in listed), item, limit, runs=all(i.runs for i in inners))


# --- refusals --------------------------------------------------------------------------------------------------------


def _refuse_zip(builder: Builder, node: ast.expr) -> NoReturn:
    builder.refuse(
        "IG135",
        f"`zip` goes over {builder.quoted(node)}, which does not count 0, 1, 2...",
        node,
        "another start, step or type",
        remedies=("loop over the index with `enumerate`, and compute this value from it",),
    )


def _refuse_reversed(builder: Builder, node: ast.Call) -> NoReturn:
    builder.refuse(
        "IG135",
        "a `for` loop goes over `reversed(...)`",
        node,
        "not an iterable of the language",
        remedies=("count down: `for i in range(n - 1, -1, -1):`",),
    )


def _refuse(builder: Builder, value: Value, node: ast.expr) -> NoReturn:
    text = builder.quoted(node)
    remedies: tuple[str, ...] = ("loop over `range(...)`, an array, a tuple, or `enumerate` or `zip` of them",)
    if isinstance(value, Typed | Literal):
        remedies = (f"write `range({builder.text(node)})`",)
    title = f"a `for` loop goes over {text}, which is {article(describe(value))}"
    builder.refuse("IG135", title, node, "nothing to go over", remedies=remedies)
