"""Expressions: each becomes a value; what needs statements is hoisted, with everything before it kept first."""

import ast
from collections.abc import Sequence

from isogrid.frontend import arrays, calls, names, operators, refusals
from isogrid.frontend.coercion import (
    condition,
    default_type,
    scalar_operand,
    typed_as,
    unify,
)
from isogrid.frontend.scope import Builder
from isogrid.frontend.values import (
    POISON,
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
    Untyped,
    Value,
    is_atom,
    is_fixed,
    is_repeatable,
    proved,
)
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar


def evaluate(builder: Builder, node: ast.expr) -> Value:
    """The value of an expression; poison where it was refused, so that its neighbours are still judged."""
    return builder.attempt(lambda: _dispatch(builder, node))


def evaluate_all(builder: Builder, nodes: Sequence[ast.expr]) -> list[Value]:
    """Values of several expressions, evaluated left to right."""
    values: list[Value] = []
    marks: list[int] = []
    for node in nodes:
        values.append(evaluate(builder, node))
        marks.append(len(builder.block))
    return settled(builder, values, marks)


def settled(builder: Builder, values: Sequence[Value], marks: Sequence[int]) -> list[Value]:
    """Put into temporaries what was evaluated before statements that later values needed.

    `marks[i]` is the length of the block when `values[i]` was complete.
    """
    result = list(values)
    for i in range(len(result) - 1, -1, -1):
        if marks[i] < len(builder.block):
            result[i] = keep(builder, result[i], marks[i])
    return result


def keep(builder: Builder, value: Value, position: int, *, for_good: bool = False) -> Value:
    """The value in temporaries that are assigned at `position` of the block, where it is not one already.

    `for_good` copies the author's locals too, which later statements may assign.
    """
    statements: list[k.Statement] = []
    kept = _keep(builder, value, statements, for_good)
    builder.block[position:position] = statements
    return kept


def keep_here(builder: Builder, value: Value, *, for_good: bool = False) -> Value:
    """The value in temporaries, assigned now."""
    return keep(builder, value, len(builder.block), for_good=for_good)


def atom(builder: Builder, expression: k.Expr, name: str = "value") -> k.Expr:
    """An expression that may be used twice: itself, or a temporary."""
    if is_atom(expression):
        return expression
    return _temporary(builder, expression, builder.block, name)


def _temporary(builder: Builder, expression: k.Expr, statements: list[k.Statement], name: str) -> k.Local:
    unique = builder.temporary(name)
    statements.append(k.Assign(unique, expression, span=expression.span))
    return k.Local(unique, expression.type, span=expression.span)


def _keep(builder: Builder, value: Value, statements: list[k.Statement], for_good: bool) -> Value:
    safe = is_fixed if for_good else is_atom
    match value:
        case Typed(expression=expression, pending=pending):
            if safe(expression):
                return value
            return Typed(_temporary(builder, expression, statements, "value"), pending)
        case LiteralChoice(condition=test):
            if safe(test):
                return value
            kept = _temporary(builder, test, statements, "condition")
            return LiteralChoice(kept, value.then, value.otherwise)
        case Narrowed(expression=expression):
            return _keep_narrowed(builder, expression, statements, for_good)
        case TupleValue(items=items):
            return TupleValue(tuple(_keep(builder, item, statements, for_good) for item in items))
        case ArrayValue(leading=leading) if not all(safe(index) for index in leading):
            kept_indices = tuple(
                index if safe(index) else _temporary(builder, index, statements, "index") for index in leading
            )
            return ArrayValue(value.name, value.element, value.shape, value.space, value.access, kept_indices)
        case (
            Literal() | ArrayValue() | DtypeValue() | LimitsValue() | FunctionValue() | ObjectValue() | StringValue()
            | NothingValue() | Poison()
        ):  # fmt: skip
            return value


def _keep_narrowed(builder: Builder, cast: k.Cast, statements: list[k.Statement], for_good: bool) -> Value:
    """The conversion may trap, so it is tried here; locals hold computing types, so it is done again at the store."""
    inner = cast.value
    if not (is_fixed if for_good else is_atom)(inner):
        inner = _temporary(builder, inner, statements, "value")
    if cast.checked:
        statements.append(k.Evaluate(k.Cast(inner, cast.type, span=cast.span), span=cast.span))
    return Narrowed(k.Cast(inner, cast.type, checked=False, span=cast.span))


# --- one kind of node each -------------------------------------------------------------------------------------------


def _dispatch(builder: Builder, node: ast.expr) -> Value:
    match node:
        case ast.Constant():
            return _constant(builder, node)
        case ast.Name():
            return names.name_value(builder, node)
        case ast.Attribute():
            return names.attribute_value(builder, _solid(builder, evaluate(builder, node.value)), node)
        case ast.Subscript():
            return arrays.subscript_value(builder, node)
        case ast.BinOp():
            return _binary(builder, node)
        case ast.UnaryOp():
            return _unary(builder, node)
        case ast.BoolOp():
            return _logical(builder, node)
        case ast.Compare():
            return _comparison(builder, node)
        case ast.IfExp():
            return _choice(builder, node)
        case ast.Call():
            return calls.call_value(builder, node)
        case ast.Tuple():
            return _tuple(builder, node)
        case _:
            refusals.refuse_expression(builder, node)


def _solid(builder: Builder, value: Value) -> Value:
    if isinstance(value, Poison):
        builder.give_up()
    return value


def _constant(builder: Builder, node: ast.Constant) -> Value:
    match node.value:
        case bool() | int() | float():
            return operators.literal(builder, node.value, node)
        case str():
            return StringValue(node.value)
        case None:
            return NothingValue()
        case _:
            refusals.refuse_constant(builder, node)


def _tuple(builder: Builder, node: ast.Tuple) -> Value:
    for element in node.elts:
        if isinstance(element, ast.Starred):
            refusals.refuse_expression(builder, element)
    return TupleValue(tuple(evaluate_all(builder, node.elts)))


def _binary(builder: Builder, node: ast.BinOp) -> Value:
    op = operators.BINARY.get(type(node.op))
    if op is None:
        refusals.refuse_matrix_product(builder, node)
    left, right = evaluate_all(builder, (node.left, node.right))
    return operators.binary(builder, op, left, right, (node.left, node.right), node)


def _unary(builder: Builder, node: ast.UnaryOp) -> Value:
    value = _solid(builder, evaluate(builder, node.operand))
    match node.op:
        case ast.Not():
            return _negation(builder, value, node)
        case ast.USub():
            return operators.unary(builder, "neg", value, node.operand, node)
        case ast.Invert():
            return operators.unary(builder, "invert", value, node.operand, node)
        case _:
            return _plus(builder, value, node)


def _plus(builder: Builder, value: Value, node: ast.UnaryOp) -> Value:
    operand = scalar_operand(builder, value, node.operand, "beside `+`")
    type = operand.type if isinstance(operand, Typed) else default_type(operand)
    if type is Scalar.BOOL:
        builder.refuse("IG109", "`+x` is not defined for bool", node, f"{builder.quoted(node.operand)} is bool")
    return operand


def _negation(builder: Builder, value: Value, node: ast.UnaryOp) -> Value:
    if isinstance(value, Literal) and isinstance(value.value, bool):
        return Literal(not value.value, value.settled)
    test = condition(builder, value, node.operand, "operand of `not`")
    return Typed(k.Unary("not", test, Scalar.BOOL, checked=False, span=builder.span(node)))


def _logical(builder: Builder, node: ast.BoolOp) -> Value:
    word = "and" if isinstance(node.op, ast.And) else "or"
    return _logical_chain(builder, word, node, node.values)


def _logical_chain(builder: Builder, word: str, node: ast.BoolOp, parts: Sequence[ast.expr]) -> Value:
    """`a and b and c`, from the right: what is not evaluated must not run."""
    first, *rest = parts
    left = evaluate(builder, first)
    if not rest:
        return left if isinstance(left, Literal | Poison) else Typed(_part(builder, word, left, first))
    if isinstance(left, Literal) and isinstance(left.value, bool):
        decided = left.value is (word == "or")
        if decided and left.settled:
            return left
        if not decided:
            return _logical_chain(builder, word, node, rest)
    test = POISON if isinstance(left, Poison) else Typed(_part(builder, word, left, first))
    with builder.nested() as hoisted:
        right = _logical_chain(builder, word, node, rest)
        other = None if isinstance(right, Poison) else _part(builder, word, right, rest[0])
    if isinstance(test, Poison) or other is None:
        builder.give_up()
    if not hoisted:
        return Typed(k.Logical(word, test.expression, other, span=builder.span(node)))
    return _short_circuit(builder, word, test.expression, hoisted, other, node)


def _part(builder: Builder, word: str, value: Value, node: ast.expr) -> k.Expr:
    return condition(builder, value, node, f"operand of `{word}`")


def _short_circuit(
    builder: Builder, word: str, left: k.Expr, hoisted: list[k.Statement], right: k.Expr, node: ast.expr
) -> Value:
    """The right side needs statements, so they go under an `if` on the left."""
    span = builder.span(node)
    result = builder.temporary(word)
    builder.emit(k.Assign(result, left, span=span))
    hoisted.append(k.Assign(result, right, span=span))
    local = k.Local(result, Scalar.BOOL, span=span)
    branches = (tuple(hoisted), ()) if word == "and" else ((), tuple(hoisted))
    builder.emit(k.If(local, *branches, span=span))
    return Typed(local)


def _comparison(builder: Builder, node: ast.Compare) -> Value:
    left = evaluate(builder, node.left)
    return _links(builder, node, left, node.left, list(zip(node.ops, node.comparators, strict=True)))


def _links(
    builder: Builder, node: ast.Compare, left: Value, left_node: ast.expr, links: list[tuple[ast.cmpop, ast.expr]]
) -> Value:
    """`a < b < c`: the middle is evaluated once, and what follows only if all before held."""
    (op, right_node), rest = links[0], links[1:]
    mark = len(builder.block)
    right = evaluate(builder, right_node)
    left, right = settled(builder, (left, right), (mark, len(builder.block)))
    again = right
    if rest and isinstance(right, Typed) and is_repeatable(right.expression):
        # It gave a value the first time, so it cannot trap the second time.
        again = Typed(proved(right.expression), right.pending)
    elif rest and isinstance(right, Typed):
        # The middle is used twice, so it is kept; what came before it is then kept before it.
        mark = len(builder.block)
        kept = keep_here(builder, right)
        (left,) = settled(builder, (left,), (mark,))
        right = again = kept
    first = _link(builder, node, op, left, right, (left_node, right_node))
    if not rest:
        return first
    with builder.nested() as hoisted:
        second = _links(builder, node, again, right_node, rest)
    if isinstance(first, Literal) and isinstance(second, Literal) and not hoisted:
        return Literal(bool(first.value and second.value), first.settled and second.settled)
    a = condition(builder, first, node, "comparison")
    b = condition(builder, second, node, "comparison")
    if not hoisted:
        return Typed(k.Logical("and", a, b, span=builder.span(node)))
    return _short_circuit(builder, "and", a, hoisted, b, node)


def _link(
    builder: Builder,
    node: ast.Compare,
    op: ast.cmpop,
    left: Value,
    right: Value,
    nodes: tuple[ast.expr, ast.expr],
) -> Value:
    if isinstance(left, Poison) or isinstance(right, Poison):
        builder.give_up()
    match op:
        case ast.Is() | ast.IsNot():
            return operators.identity(builder, isinstance(op, ast.IsNot), left, right, nodes, node)
        case ast.In() | ast.NotIn():
            refusals.refuse_membership(builder, node, isinstance(op, ast.NotIn), nodes)
        case _:
            return operators.compare(builder, operators.COMPARISON[type(op)], left, right, nodes, node)


def _choice(builder: Builder, node: ast.IfExp) -> Value:
    test_value = evaluate(builder, node.test)
    if isinstance(test_value, Literal) and test_value.settled:
        return evaluate(builder, node.body if test_value.value else node.orelse)
    if isinstance(test_value, Poison):
        evaluate(builder, node.body)
        evaluate(builder, node.orelse)
        builder.give_up()
    test = condition(builder, test_value, node.test, "condition")
    with builder.nested() as then_block:
        then = evaluate(builder, node.body)
    with builder.nested() as else_block:
        otherwise = evaluate(builder, node.orelse)
    known = all(isinstance(value, Literal) for value in (test_value, then, otherwise))
    if known and isinstance(test_value, Literal) and not then_block and not else_block:
        return then if test_value.value else otherwise
    return _chosen(builder, node, test, (then, then_block), (otherwise, else_block))


def _chosen(
    builder: Builder,
    node: ast.IfExp,
    test: k.Expr,
    then: tuple[Value, list[k.Statement]],
    otherwise: tuple[Value, list[k.Statement]],
) -> Value:
    """`then if test else otherwise`, component by component for tuples."""
    if isinstance(then[0], TupleValue) and isinstance(otherwise[0], TupleValue):
        then_block, else_block = list(then[1]), list(otherwise[1])
        chosen = _chosen_tuple(builder, node, (then[0], then_block), (otherwise[0], else_block))
        builder.emit(k.If(test, tuple(then_block), tuple(else_block), span=builder.span(node)))
        return chosen
    a = scalar_operand(builder, then[0], node.body, "chosen")
    b = scalar_operand(builder, otherwise[0], node.orelse, "chosen")
    if not isinstance(a, Typed) and not isinstance(b, Typed) and not then[1] and not otherwise[1]:
        _same_kind(builder, a, b, node)
        return LiteralChoice(test, a, b)
    type, (x, y), pending = unify(builder, (a, b), (node.body, node.orelse), node, "the conditional expression")
    if not then[1] and not otherwise[1]:
        return Typed(k.Choose(test, x, y, type, span=builder.span(node)), pending)
    span = builder.span(node)
    result = builder.temporary("choice")
    then_block = (*then[1], k.Assign(result, x, span=span))
    else_block = (*otherwise[1], k.Assign(result, y, span=span))
    builder.emit(k.If(test, then_block, else_block, span=span))
    return Typed(k.Local(result, type, span=span), pending)


def _same_kind(builder: Builder, then: Untyped, otherwise: Untyped, node: ast.IfExp) -> None:
    """Literals of a choice that no single type can hold."""
    kinds = {default_type(then), default_type(otherwise)}
    if Scalar.BOOL in kinds and len(kinds) > 1:
        typed_as(builder, then, default_type(otherwise), node.body)


def _chosen_tuple(
    builder: Builder,
    node: ast.IfExp,
    then: tuple[TupleValue, list[k.Statement]],
    otherwise: tuple[TupleValue, list[k.Statement]],
) -> TupleValue:
    """Both tuples are assigned to temporaries under the condition, tuples in them too."""
    (first, then_block), (second, else_block) = then, otherwise
    if len(first.items) != len(second.items):
        builder.refuse(
            "IG137",
            f"the conditional expression gives {len(first.items)} or {len(second.items)} values",
            node,
            "the two tuples differ in length",
        )
    span = builder.span(node)
    results: list[Value] = []
    for left, right in zip(first.items, second.items, strict=True):
        if isinstance(left, TupleValue) and isinstance(right, TupleValue):
            results.append(_chosen_tuple(builder, node, (left, then_block), (right, else_block)))
            continue
        a = scalar_operand(builder, left, node.body, "chosen")
        b = scalar_operand(builder, right, node.orelse, "chosen")
        type, (x, y), pending = unify(builder, (a, b), (node.body, node.orelse), node, "the conditional expression")
        name = builder.temporary("choice")
        then_block.append(k.Assign(name, x, span=span))
        else_block.append(k.Assign(name, y, span=span))
        results.append(Typed(k.Local(name, type, span=span), pending))
    return TupleValue(tuple(results))
