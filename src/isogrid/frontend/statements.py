"""Statements: one function per kind. Errors end a statement, not the build, so that all of them are reported."""

import ast
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from isogrid.builtins.conversions import STORED_FLOATS
from isogrid.frontend import arrays, binding, expressions, functions, inlining, loops, operators, refusals
from isogrid.frontend.coercion import condition, stored
from isogrid.frontend.scope import Builder, RefusedError, merge
from isogrid.frontend.source import quoted
from isogrid.frontend.values import (
    ArrayValue,
    DtypeValue,
    FunctionValue,
    Literal,
    LiteralChoice,
    Narrowed,
    NothingValue,
    Place,
    Poison,
    StringValue,
    TupleValue,
    Typed,
    Value,
    is_repeatable,
    proved,
)
from isogrid.ir import kernel as k
from isogrid.ir.operations import BINARY_SIGNS
from isogrid.ir.types import INDEX, Scalar


def build_body(builder: Builder, tree: ast.FunctionDef, skip: int = 0) -> None:
    """The statements of a function; its docstring says nothing to the compiler."""
    _declare_ahead(builder, tree)
    body = tree.body[skip:]
    if not skip and functions.docstring_of(tree) is not None:
        body = tree.body[1:]
    build_block(builder, body)


def _declare_ahead(builder: Builder, tree: ast.FunctionDef) -> None:
    """Annotations hold for the whole function, assignments above them included. What is wrong is reported in place."""
    before = len(builder.reports)
    for node in functions.declarations(tree):
        with suppress(RefusedError):
            type = _annotation(builder, node.annotation)
            name = node.target.id if isinstance(node.target, ast.Name) else ""
            if name in builder.frame.locals:
                builder.inference.declare(builder.variable(name).key, type, builder.span(node.annotation))
    del builder.reports[before:]


def build_block(builder: Builder, block: Sequence[ast.stmt]) -> None:
    """Several statements. What no path reaches is judged, but not kept."""
    for statement in block:
        if builder.frame.flow is None:
            with builder.nested():
                _attempt(builder, statement)
        else:
            _attempt(builder, statement)


def _attempt(builder: Builder, node: ast.stmt) -> None:
    try:
        _build(builder, node)
    except RefusedError:
        _poison_targets(builder, node)


def _poison_targets(builder: Builder, node: ast.stmt) -> None:
    """Names that a refused statement would have assigned count as assigned, so that no report follows from it."""
    for name in functions.names_bound_by(node):
        binding.poison(builder, name, node)


def _build(builder: Builder, node: ast.stmt) -> None:
    match node:
        case ast.Assign():
            _assign(builder, node)
        case ast.AugAssign():
            _augmented(builder, node)
        case ast.AnnAssign():
            _annotated(builder, node)
        case ast.If():
            _if(builder, node)
        case ast.For():
            loops.build_for(builder, node)
        case ast.While():
            loops.build_while(builder, node)
        case ast.Break():
            loops.build_break(builder, node)
        case ast.Continue():
            loops.build_continue(builder, node)
        case ast.Return():
            _return(builder, node)
        case ast.Assert():
            _assert(builder, node)
        case ast.Expr():
            _expression(builder, node)
        case ast.Pass():
            pass
        case _:
            _poison_targets(builder, node)
            refusals.refuse_statement(builder, node)


# --- assignments -----------------------------------------------------------------------------------------------------


def _assign(builder: Builder, node: ast.Assign) -> None:
    if isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
        builder.targets[id(node.value)] = node.targets[0].id
    value = expressions.evaluate(builder, node.value)
    if _needs_copy(builder, node, value):
        value = expressions.keep_here(builder, value, for_good=True)
    for target in node.targets:
        binding.assign_target(builder, target, value, node.value)


def _needs_copy(builder: Builder, node: ast.Assign, value: Value) -> bool:
    """Whether assigning one target could change what the next is given."""
    if len(node.targets) > 1:
        return True
    target = node.targets[0]
    if not isinstance(target, ast.Tuple | ast.List):
        return False
    if not isinstance(value, TupleValue) or len(target.elts) != len(value.items):
        return True
    changed: set[str] = set()
    for element, item in zip(target.elts, value.items, strict=True):
        if not isinstance(element, ast.Name) or not isinstance(item, Typed | Literal):
            return True
        if isinstance(item, Typed) and locals_read(item.expression) & changed:
            return True
        changed.add(builder.variable(element.id).name)
    return False


def locals_read(expression: k.Expr) -> frozenset[str]:
    """Names of the locals that an expression reads."""
    match expression:
        case k.Local(name=name):
            return frozenset({name})
        case k.Const() | k.ScalarValue() | k.DimValue() | k.Query():
            return frozenset()
        case k.Unary(operand=operand):
            return locals_read(operand)
        case k.Binary(left=left, right=right) | k.Compare(left=left, right=right) | k.Logical(left=left, right=right):
            return locals_read(left) | locals_read(right)
        case k.Choose(condition=test, then=then, otherwise=otherwise):
            return locals_read(test) | locals_read(then) | locals_read(otherwise)
        case k.Cast(value=value):
            return locals_read(value)
        case k.Call(arguments=parts) | k.Load(indices=parts):
            return frozenset[str]().union(*(locals_read(part) for part in parts))


def _augmented(builder: Builder, node: ast.AugAssign) -> None:
    op = operators.BINARY.get(type(node.op))
    if op is None:
        refusals.refuse_matrix_product(builder, node)
    match node.target:
        case ast.Name():
            _augmented_name(builder, node, node.target, op)
        case ast.Subscript():
            _augmented_element(builder, node, node.target, op)
        case ast.Attribute():
            binding.assign_target(builder, node.target, Poison(), node.value)


def _augmented_name(builder: Builder, node: ast.AugAssign, target: ast.Name, op: str) -> None:
    if target.id not in builder.frame.locals:
        refusals.refuse_parameter_assignment(builder, target.id, builder.span(target))
    read = ast.copy_location(ast.Name(target.id, ast.Load()), target)
    old, operand = expressions.evaluate_all(builder, (read, node.value))
    if isinstance(old, Poison) or isinstance(operand, Poison):
        builder.give_up()
    value = operators.binary(builder, op, old, operand, (target, node.value), node)
    binding.assign_name(builder, target.id, value, node.value, builder.span(target))


def _augmented_element(builder: Builder, node: ast.AugAssign, target: ast.Subscript, op: str) -> None:
    """`x[i] += e`: i, bounds, load, e, operation, store; the bounds are looked at once."""
    place = arrays.place(builder, target)
    arrays.check_updatable(builder, place.array, place.span, "updated")
    indices = tuple(
        index if is_repeatable(index) else expressions.atom(builder, index, "index") for index in place.indices
    )
    old: Value = arrays.load(builder, Place(place.array, indices, place.span))
    place = Place(place.array, tuple(proved(index) for index in indices), place.span)
    mark = len(builder.block)
    operand = expressions.evaluate(builder, node.value)
    if isinstance(operand, Poison):
        builder.give_up()
    (old,) = expressions.settled(builder, (old,), (mark,))
    value = operators.binary(builder, op, old, operand, (target, node.value), node)
    if place.array.element in STORED_FLOATS:
        _refuse_unwritten_rounding(builder, node, target, op, place.array)
    expression, narrow = stored(builder, value, place.array.element, target, place.array.name)
    arrays.store(builder, place, expression, narrow, bounds_known=True)


def _refuse_unwritten_rounding(
    builder: Builder, node: ast.AugAssign, target: ast.Subscript, op: str, array: ArrayValue
) -> NoReturn:
    element, text, operand = array.element.value, builder.text(target), builder.text(node.value)
    if not isinstance(node.value, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant):
        operand = f"({operand})"
    builder.refuse(
        "IG115",
        f"`{array.name}` has {element} elements, and `{text}` is updated as f32",
        node,
        f"the result is f32 and not {element}",
        why="a store rounds only where that is written",
        remedies=(f"write `{text} = {element}({text} {BINARY_SIGNS[op]} {operand})`",),
    )


def _annotated(builder: Builder, node: ast.AnnAssign) -> None:
    if not isinstance(node.target, ast.Name):
        builder.refuse(
            "IG151", f"{builder.quoted(node.target)} is annotated", node.target, "only a local may be",
            remedies=("drop the annotation: the array has its element type",),
        )  # fmt: skip
    type = _annotation(builder, node.annotation)
    if node.target.id not in builder.frame.locals:
        refusals.refuse_parameter_assignment(builder, node.target.id, builder.span(node.target))
    binding.declare(builder, node.target.id, type, builder.span(node.annotation))
    if node.value is None:
        return
    value = expressions.evaluate(builder, node.value)
    binding.assign_target(builder, node.target, value, node.value)


def _annotation(builder: Builder, node: ast.expr) -> Scalar:
    value = expressions.evaluate(builder, node)
    match value:
        case DtypeValue(scalar=scalar) if scalar.is_computing:
            return scalar
        case DtypeValue(scalar=scalar):
            builder.refuse(
                "IG151",
                f"a local is declared {scalar.value}, which is for elements only",
                node,
                f"{scalar.value} is widened to {scalar.computing.value} when it is loaded",
                remedies=(f"write {scalar.computing.value}",),
            )
        case FunctionValue(spelling="builtins.int"):
            return INDEX
        case Poison():
            builder.give_up()
        case _:
            builder.refuse(
                "IG151",
                f"{builder.quoted(node)} is no type of a local",
                node,
                "not a dtype",
                remedies=("write bool, i32, i64, u32, u64, w32, w64, f32 or f64, or no annotation",),
            )


# --- control ---------------------------------------------------------------------------------------------------------


def _if(builder: Builder, node: ast.If) -> None:
    frame = builder.frame
    value = expressions.evaluate(builder, node.test)
    if isinstance(value, Literal) and value.settled:
        # A test on None or on a dtype: only the branch that this specialisation takes is part of it.
        build_block(builder, node.body if value.value else node.orelse)
        return
    test = _test(builder, value, node.test)
    before = None if frame.flow is None else set(frame.flow)
    frame.depth += 1
    with builder.nested() as then:
        build_block(builder, node.body)
    after_then = frame.flow
    frame.flow = None if before is None else set(before)
    with builder.nested() as otherwise:
        build_block(builder, node.orelse)
    frame.depth -= 1
    frame.flow = merge((after_then, frame.flow))
    if test is not None:
        builder.emit(k.If(test, tuple(then), tuple(otherwise), span=builder.span(node.test)))


def _test(builder: Builder, value: Value, node: ast.expr) -> k.Expr | None:
    """The condition, or None where it was refused; the branches are judged all the same."""
    try:
        return condition(builder, value, node, "condition")
    except RefusedError:
        return None


def _return(builder: Builder, node: ast.Return) -> None:
    frame = builder.frame
    if frame.is_kernel and frame.returns is None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            refusals.refuse_return_value(builder, node)
        builder.emit(k.Return(span=builder.span(node)))
        frame.flow = None
        return
    try:
        _return_from_helper(builder, node)
    finally:
        frame.flow = None


def _return_from_helper(builder: Builder, node: ast.Return) -> None:
    returns = builder.frame.returns
    if returns is None:
        builder.give_up()
    if node.value is not None and returns.repeat_label is not None and _returned_choice(builder, node):
        return
    if node.value is not None and returns.repeat_label is not None:
        call = inlining.self_call(builder, node.value)
        if call is not None:
            inlining.repeat(builder, call)
            return
    value: Value = NothingValue() if node.value is None else expressions.evaluate(builder, node.value)
    returns.values.append((value, node))
    if returns.label is None:
        return
    _keep_result(builder, value, node)
    builder.emit(k.Leave(returns.label, span=builder.span(node)))


def _returned_choice(builder: Builder, node: ast.Return) -> bool:
    """`return a if c else f(...)` with a call of the helper itself is an `if` with two returns."""
    choice = node.value
    if not isinstance(choice, ast.IfExp):
        return False
    parts = (choice.body, choice.orelse)
    if not any(inlining.self_call(builder, p) or isinstance(p, ast.IfExp) for p in parts):
        return False
    then, otherwise = (ast.copy_location(ast.Return(part), node) for part in parts)
    split = ast.copy_location(ast.If(choice.test, [then], [otherwise]), node)
    _if(builder, split)
    return True


def _keep_result(builder: Builder, value: Value, node: ast.Return) -> None:
    """Put the returned value where the other returns of the helper put theirs."""
    frame = builder.frame
    returns = frame.returns
    if returns is None or isinstance(value, Poison):
        return
    span = builder.span(node.value or node)
    earlier = [(v, n) for v, n in returns.values[:-1] if not isinstance(v, Poison)]
    if earlier and _shape_of(earlier[0][0]) != _shape_of(value):
        refusals.refuse_returns(builder, earlier[0], (value, node))
    found = binding.result_binding(builder, value)
    if found is not None:
        returns.binding = returns.binding or found
        binding.assign_to(builder, returns.binding, value, node.value or node, span)
    elif not isinstance(value, NothingValue):
        if isinstance(value, Narrowed | StringValue) or (earlier and earlier[0][0] != value):
            refusals.refuse_returned_kind(builder, value, node)
        returns.result = value


def _shape_of(value: Value) -> object:
    """What two returns must have in common before their types are compared."""
    match value:
        case Typed() | Literal() | LiteralChoice():
            return "number"
        case TupleValue(items=items):
            return tuple(_shape_of(item) for item in items)
        case NothingValue():
            return None
        case _:
            return type(value)


def _assert(builder: Builder, node: ast.Assert) -> None:
    value = expressions.evaluate(builder, node.test)
    test = condition(builder, value, node.test, "asserted condition")
    message = quoted(builder.text(node.test)).strip("`")
    if node.msg is not None:
        text = expressions.evaluate(builder, node.msg) if not isinstance(node.msg, ast.JoinedStr) else NothingValue()
        if not isinstance(text, StringValue):
            refusals.refuse_message(builder, node.msg)
        message = text.text
    builder.emit(k.Assert(test, message, span=builder.span(node)))


def _expression(builder: Builder, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant) and (node.value.value is ... or isinstance(node.value.value, str)):
        return
    _evaluate_only(builder, expressions.evaluate(builder, node.value))


def _evaluate_only(builder: Builder, value: Value) -> None:
    """An unused value is still evaluated, for its traps."""
    match value:
        case Typed(expression=expression) | Narrowed(expression=expression):
            if not isinstance(expression, k.Const | k.Local | k.ScalarValue | k.DimValue | k.Query):
                builder.emit(k.Evaluate(expression, span=expression.span))
        case LiteralChoice(condition=test):
            _evaluate_only(builder, Typed(test))
        case TupleValue(items=items):
            for item in items:
                _evaluate_only(builder, item)
        case _:
            pass
