"""Assignment to names: what a local is bound to, which type it has, and targets that no assignment may have."""

import ast
from collections.abc import Sequence

from isogrid.diagnostics.report import Label
from isogrid.diagnostics.span import Span
from isogrid.frontend import arrays, expressions, refusals
from isogrid.frontend.coercion import as_type, default_type, stored, takes
from isogrid.frontend.inference import Key
from isogrid.frontend.scope import Binding, Builder, Fixed, Variable, VariableTuple
from isogrid.frontend.shapes import known_number
from isogrid.frontend.values import (
    ArrayValue,
    DtypeValue,
    FunctionValue,
    LimitsValue,
    Literal,
    LiteralChoice,
    Narrowed,
    NothingValue,
    ObjectValue,
    Poison,
    StringValue,
    TupleValue,
    Typed,
    Value,
    article,
    describe,
)
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar


def assign_target(builder: Builder, target: ast.expr, value: Value, source: ast.expr) -> None:
    """Assign a value, complete already, to one target."""
    match target:
        case ast.Name():
            assign_name(builder, target.id, value, source, builder.span(target))
        case ast.Subscript():
            store_element(builder, target, value, source)
        case ast.Tuple() | ast.List():
            _unpack(builder, target, value, source)
        case ast.Starred():
            refusals.refuse_expression(builder, target)
        case ast.Attribute():
            builder.refuse(
                "IG124",
                f"{builder.quoted(target)} is assigned",
                target,
                "attributes do not change in a kernel",
                remedies=("assign a local or an element of an array",),
            )
        case _:
            builder.refuse("IG124", f"{builder.quoted(target)} cannot be assigned", target, "not a name or element")


def store_element(builder: Builder, target: ast.Subscript, value: Value, source: ast.expr) -> None:
    """`x[i] = e`: the value first, then the indices, the bounds, the store."""
    mark = len(builder.block)
    place = arrays.place(builder, target)
    (value,) = expressions.settled(builder, (value,), (mark,))
    arrays.check_writable(builder, place.array, place.span)
    if isinstance(value, Poison):
        return
    expression, narrow = stored(builder, value, place.array.element, source, place.array.name)
    arrays.store(builder, place, expression, narrow)


def assign_name(builder: Builder, name: str, value: Value, source: ast.AST, span: Span) -> None:
    """Assign a value to a local; from here on the name is assigned on this path."""
    frame = builder.frame
    if name not in frame.locals:
        refusals.refuse_parameter_assignment(builder, name, span)
    old = frame.bindings.get(name)
    new = _bound(builder, name, (), value, source, span, old)
    if new is not None:
        frame.bindings[name] = new
    if frame.flow is not None:
        frame.flow.add(name)


def assign_to(builder: Builder, binding: Binding, value: Value, source: ast.AST, span: Span) -> None:
    """Assign a value to what a name is bound to already (the result of a helper)."""
    match binding:
        case Variable(key=key):
            _assign_scalar(builder, binding, key, value, source, span)
        case VariableTuple(items=items):
            if isinstance(value, TupleValue):
                for item, part in zip(items, value.items, strict=True):
                    assign_to(builder, item, part, source, span)
        case Fixed():
            pass


def result_binding(builder: Builder, value: Value, path: tuple[int, ...] = ()) -> Binding | None:
    """Locals for the result of a helper with several returns; None where the value is no number or tuple of them."""
    match value:
        case Typed() | Literal() | LiteralChoice():
            return builder.variable("return", path)
        case TupleValue(items=items):
            parts = [result_binding(builder, item, (*path, i)) for i, item in enumerate(items)]
            present = tuple(p for p in parts if p is not None)
            return VariableTuple(present) if len(present) == len(parts) else None
        case _:
            return None


def poison(builder: Builder, name: str, node: ast.AST) -> None:
    """A name whose assignment was refused counts as assigned, with a value from which no report follows."""
    frame = builder.frame
    if name not in frame.locals:
        return
    frame.bindings[name] = Fixed(Poison(), builder.span(node))
    if frame.flow is not None:
        frame.flow.add(name)


def declare(builder: Builder, name: str, type: Scalar, span: Span) -> None:
    """`x: f32`: the annotation decides the type."""
    variable = builder.variable(name)
    inference = builder.inference
    before = inference.decided_by(variable.key)
    if before is not None and before.type is not type:
        how = "declared" if variable.key in inference.declared else "assigned"
        builder.refuse(
            "IG107",
            f"`{name}` is {how} {before.type.value} and declared {type.value}",
            span,
            f"declared {type.value} here",
            why="a local has one type in the whole function",
            remedies=("use another name for one of them",),
            secondary=(Label(before.span, f"{how} {before.type.value} here"),),
        )
    inference.declare(variable.key, type, span)
    builder.frame.bindings.setdefault(name, variable)


# --- names -----------------------------------------------------------------------------------------------------------


def _bound(
    builder: Builder,
    name: str,
    path: tuple[int, ...],
    value: Value,
    source: ast.AST,
    span: Span,
    old: Binding | None,
) -> Binding | None:
    match value:
        case Typed() | Literal() | LiteralChoice():
            _check_same_kind(builder, name, old, Variable, value, span)
            variable = builder.variable(name, path)
            _assign_scalar(builder, variable, variable.key, value, source, span)
            return variable
        case TupleValue(items=items):
            _check_same_kind(builder, name, old, VariableTuple, value, span)
            previous: Sequence[Binding | None] = [None] * len(items)
            if isinstance(old, VariableTuple):
                if len(old.items) != len(items):
                    _refuse_kinds(builder, name, f"a tuple of {len(old.items)} and one of {len(items)} values", span)
                previous = old.items
            parts = [
                _bound(builder, name, (*path, i), item, source, span, before)
                for i, (item, before) in enumerate(zip(items, previous, strict=True))
            ]
            return VariableTuple(tuple(p for p in parts if p is not None))
        case ArrayValue() | DtypeValue() | LimitsValue() | FunctionValue() | ObjectValue() | StringValue():
            return _fixed(builder, name, value, source, span, old)
        case Narrowed():
            element = value.expression.type
            builder.refuse(
                "IG114",
                f"`{name}` is assigned {article(describe(value))}, and {element.value} is for elements only",
                span,
                f"a conversion to {element.value} may only be stored",
                remedies=(
                    f"store it at once, `x[i] = {element.value}(...)`, or compute with {element.computing.value}",
                ),
            )
        case NothingValue():
            return _nothing(builder, name, value, source, span, old)
        case Poison():
            return Fixed(value, span)


def _nothing(
    builder: Builder, name: str, value: NothingValue, source: ast.AST, span: Span, old: Binding | None
) -> Binding:
    if value.of:
        refusals.refuse_no_value(builder, value, source)
    return _fixed(builder, name, value, source, span, old)


def _fixed(builder: Builder, name: str, value: Value, source: ast.AST, span: Span, old: Binding | None) -> Fixed:
    """A name for an array, row or dtype keeps its meaning; a row's indices are taken as they are now."""
    if isinstance(old, Fixed) and isinstance(old.value, Poison):
        old = None
    if isinstance(value, ArrayValue):
        value = _row_in_locals(builder, name, value, span)
    if old is not None and not (isinstance(old, Fixed) and old.value == value):
        before = describe(old.value) if isinstance(old, Fixed) else "number"
        if isinstance(old, Fixed) and isinstance(old.value, ArrayValue) and isinstance(value, ArrayValue):
            _refuse_swap(builder, name, old, value, span)
        _refuse_kinds(builder, name, f"{article(before)} and {article(describe(value))}", span)
    return Fixed(value, span)


def _row_in_locals(builder: Builder, name: str, value: ArrayValue, span: Span) -> ArrayValue:
    """`row = x[i]`: the index is copied, so that a later `i = ...` does not move the row."""
    indices: list[k.Expr] = []
    for axis, index in enumerate(value.leading):
        if isinstance(index, k.Const | k.ScalarValue | k.DimValue | k.Query):
            indices.append(index)
            continue
        key: Key = (builder.frame.key, f"{name}.row.{span.line}.{span.column}", (axis,))
        if key not in builder.names_by_key:
            builder.names_by_key[key] = builder.fresh(f"{builder.frame.prefix}{name}.row")
        unique = builder.names_by_key[key]
        builder.emit(k.Assign(unique, index, span=index.span))
        indices.append(k.Local(unique, index.type, span=index.span))
    return ArrayValue(value.name, value.element, value.shape, value.space, value.access, tuple(indices))


def _assign_scalar(builder: Builder, variable: Variable, key: Key, value: Value, source: ast.AST, span: Span) -> None:
    match value:
        case Typed(type=type, pending=pending):
            current = builder.inference.assign(key, type, span, literal=pending)
        case Literal() | LiteralChoice():
            current = builder.inference.assign(key, default_type(value), span, literal=True)
        case _:
            builder.give_up()
    if isinstance(value, Typed) and value.type is not current and not value.pending:
        if key not in builder.inference.declared:
            # Two types: reported once all assignments are known.
            return
        if not takes(value, current):
            _refuse_declared(builder, variable, key, value.type, source, span)
    expression = as_type(builder, value, current, source)
    name = _written_name(key)
    if name in builder.frame.assigned_once:
        number = known_number(builder, value)
        if number is not None:
            builder.known_values[variable.name] = number
    builder.emit(k.Assign(variable.name, expression, span=span))


def _written_name(key: Key) -> str:
    return key[1]


def report_two_types(builder: Builder) -> None:
    """Locals whose assignments disagree, each with both lines."""
    for key, contributions in builder.inference.found.items():
        if key in builder.inference.declared:
            continue
        typed = [c for c in contributions if not c.literal]
        other = next((c for c in typed if c.type is not typed[0].type), None)
        if other is None:
            continue
        name, first = _written_name(key), typed[0]
        helper = builder.names_by_key[key].split(".")[0]
        subject = f"the result of `{helper}`" if name == "return" else f"`{name}`"
        builder.report(
            "IG107",
            f"{subject} has two types: {first.type.value} and {other.type.value}",
            other.span,
            f"{other.type.value} here",
            why="a local has one type, that of its assignments that are not literals",
            remedies=(
                f"convert one side, e.g. `{first.type.value}(...)`",
                *((f"or use another name for the {other.type.value} value",) if name != "return" else ()),
            ),
            secondary=(Label(first.span, f"{first.type.value} here"),),
        )


def _refuse_declared(builder: Builder, variable: Variable, key: Key, type: Scalar, source: ast.AST, span: Span) -> None:
    declared, where = builder.inference.declared[key]
    builder.refuse(
        "IG107",
        f"`{_written_name(key)}` is declared {declared.value} and assigned {type.value}",
        span,
        f"{type.value} here",
        remedies=(f"convert the value: `{declared.value}(...)`",),
        secondary=(Label(where, f"declared {declared.value}"),),
    )


# --- kinds -----------------------------------------------------------------------------------------------------------


def _check_same_kind(
    builder: Builder, name: str, old: Binding | None, kind: type[Binding], value: Value, span: Span
) -> None:
    if old is None or isinstance(old, kind) or (isinstance(old, Fixed) and isinstance(old.value, Poison)):
        return
    before = (
        describe(old.value) if isinstance(old, Fixed) else ("tuple" if isinstance(old, VariableTuple) else "number")
    )
    after = "tuple" if isinstance(value, TupleValue) else "number"
    _refuse_kinds(builder, name, f"{article(before)} and {article(after)}", span)


def _refuse_kinds(builder: Builder, name: str, kinds: str, span: Span) -> None:
    builder.refuse(
        "IG107",
        f"`{name}` is {kinds}",
        span,
        "another kind of value here",
        why="a local is one kind of thing in the whole function",
        remedies=("use another name",),
    )


def _refuse_swap(builder: Builder, name: str, old: Fixed, value: ArrayValue, span: Span) -> None:
    before = old.value.name if isinstance(old.value, ArrayValue) else name
    same = isinstance(old.value, ArrayValue) and old.value.name == value.name
    builder.refuse(
        "IG124",
        f"`{name}` names another {'row' if same else 'array'} here",
        span,
        f"{'another row of ' if same else ''}`{value.name}` here",
        why="which array a name means is known at compile time, so that accesses can be proved",
        remedies=(
            "use one array with one more axis and select by its index: `buf[k, i]`",
            "or use another name",
        ),
        secondary=(Label(old.span, f"`{before}` here"),),
    )


# --- tuples ----------------------------------------------------------------------------------------------------------


def _unpack(builder: Builder, target: ast.Tuple | ast.List, value: Value, source: ast.expr) -> None:
    for element in target.elts:
        if isinstance(element, ast.Starred):
            refusals.refuse_expression(builder, element)
    if isinstance(value, Poison):
        for element in target.elts:
            builder.attempt(lambda element=element: _poisoned(builder, element, source))
        return
    if not isinstance(value, TupleValue):
        builder.refuse(
            "IG137",
            f"{builder.quoted(source)} is {article(describe(value))} and cannot be unpacked",
            target,
            f"{len(target.elts)} targets",
            remedies=("only tuples are unpacked",),
        )
    if len(value.items) != len(target.elts):
        builder.refuse(
            "IG137",
            f"{_counted(value.items, 'value is', 'values are')} unpacked into {len(target.elts)} targets",
            target,
            f"{len(target.elts)} targets",
            secondary=(Label(builder.span(source), _counted(value.items, "value", "values")),),
            remedies=_of_the_rank(builder, source, len(value.items)),
        )
    nodes = source.elts if isinstance(source, ast.Tuple) and len(source.elts) == len(value.items) else None
    for i, (element, item) in enumerate(zip(target.elts, value.items, strict=True)):
        assign_target(builder, element, item, nodes[i] if nodes else source)


def _of_the_rank(builder: Builder, source: ast.expr, rank: int) -> tuple[str, ...]:
    """`i, j = ig.gids()` in a grid of another rank."""
    match source:
        case ast.Call(func=ast.Attribute(attr="gids" | "lids" | "group_ids")):
            return (f"one value per extent of `grid=` or `groups=`, and this kernel has {rank}",)
        case _:
            return ()


def _counted(items: Sequence[object], one: str, many: str) -> str:
    return f"{len(items)} {one if len(items) == 1 else many}"


def _poisoned(builder: Builder, element: ast.expr, source: ast.expr) -> Value:
    assign_target(builder, element, Poison(), source)
    return Poison()
