"""Loops: `for` over ranges, arrays, tuples, `enumerate` and `zip` of them; `while`; `break` and `continue`."""

import ast

from isogrid.frontend import binding, calls, expressions, iterables, refusals, statements
from isogrid.frontend.coercion import condition
from isogrid.frontend.iterables import Counted, Listed
from isogrid.frontend.scope import Builder, Loop, RefusedError, merge
from isogrid.frontend.values import FunctionValue, Literal, Value
from isogrid.ir import kernel as k

#: The factor that leaves the choice to the backend.
COMPILER_CHOOSES = 0


def build_for(builder: Builder, node: ast.For) -> None:
    """A `for` loop: one IR loop, or one copy of the body per item of a literal tuple."""
    if node.orelse:
        refusals.report_loop_else(builder, node, "for")
    iterated, unroll = _unrolled(builder, node.iter)
    try:
        source = iterables.read(builder, iterated)
    except RefusedError:
        _judge_body(builder, node)
        raise
    match source:
        case Listed():
            _over_items(builder, node, source)
        case Counted():
            _counted(builder, node, source, unroll)


def build_while(builder: Builder, node: ast.While) -> None:
    """A `while` loop; statements that its condition needs go to the prelude."""
    if node.orelse:
        refusals.report_loop_else(builder, node, "while")
    frame = builder.frame
    test_node, unroll = _unrolled(builder, node.test)
    loop = Loop()
    frame.depth += 1
    entry = None if frame.flow is None else set(frame.flow)
    with builder.nested() as prelude:
        value = expressions.evaluate(builder, test_node)
        test = _condition(builder, value, test_node)
    endless = isinstance(value, Literal) and value.value is True
    with builder.nested() as body:
        frame.loops.append(loop)
        statements.build_block(builder, node.body)
        frame.loops.pop()
    frame.depth -= 1
    frame.flow = merge(([] if endless else [entry]) + loop.break_flows)
    if test is not None:
        builder.emit(k.While(tuple(prelude), test, tuple(body), unroll, span=builder.span(node.test)))


def build_break(builder: Builder, node: ast.Break) -> None:
    loop = builder.frame.loops[-1]
    loop.break_flows.append(None if builder.frame.flow is None else set(builder.frame.flow))
    if loop.break_label is not None:
        loop.used_labels.add(loop.break_label)
        builder.emit(k.Leave(loop.break_label, span=builder.span(node)))
    else:
        builder.emit(k.Break(span=builder.span(node)))
    builder.frame.flow = None


def build_continue(builder: Builder, node: ast.Continue) -> None:
    loop = builder.frame.loops[-1]
    loop.continue_flows.append(None if builder.frame.flow is None else set(builder.frame.flow))
    if loop.continue_label is not None:
        loop.used_labels.add(loop.continue_label)
        builder.emit(k.Leave(loop.continue_label, span=builder.span(node)))
    else:
        builder.emit(k.Continue(span=builder.span(node)))
    builder.frame.flow = None


# --- real loops ------------------------------------------------------------------------------------------------------


def _counted(builder: Builder, node: ast.For, source: Counted, unroll: int) -> None:
    frame = builder.frame
    plain = isinstance(node.target, ast.Name) and source.value is None and not _is_of_another_kind(builder, node.target)
    counter = _counter(builder, node, source) if plain else None
    name = counter or builder.temporary(source.stem)
    local = k.Local(name, source.type, span=builder.span(node.target))
    for setup in source.setup:
        builder.emit(setup)
    entry = None if frame.flow is None else set(frame.flow)
    loop = Loop()
    frame.depth += 1
    with builder.nested() as body:
        frame.loops.append(loop)
        if plain and isinstance(node.target, ast.Name):
            _assigned_by_loop(builder, node.target.id)
        else:
            value = source.value_of(builder, local)
            _attempt_target(builder, node, value)
        statements.build_block(builder, node.body)
        frame.loops.pop()
    frame.depth -= 1
    ends = [frame.flow, *loop.continue_flows, *loop.break_flows]
    frame.flow = merge(ends if source.runs else [entry, *ends])
    builder.emit(
        k.For(
            name, source.start, source.stop, source.step, tuple(body), source.type, unroll, source.step_checked,
            span=builder.span(node.iter),
        )
    )  # fmt: skip


def _counter(builder: Builder, node: ast.For, source: Counted) -> str | None:
    """The author's counter as the IR's, when its type allows; two types are reported with the other locals."""
    if not isinstance(node.target, ast.Name):
        return None
    name = node.target.id
    if name not in builder.frame.locals:
        refusals.refuse_parameter_assignment(builder, name, builder.span(node.target))
    variable = builder.variable(name)
    current = builder.inference.assign(variable.key, source.type, builder.span(node.target), literal=source.pending)
    return variable.name if current is source.type else None


def _is_of_another_kind(builder: Builder, target: ast.Name) -> bool:
    """Whether the name stands for an array, tuple or dtype: the ordinary assignment refuses a number for it."""
    old = builder.frame.bindings.get(target.id)
    return old is not None and old != builder.variable(target.id)


def _assigned_by_loop(builder: Builder, name: str) -> None:
    builder.frame.bindings[name] = builder.variable(name)
    if builder.frame.flow is not None:
        builder.frame.flow.add(name)


def _attempt_target(builder: Builder, node: ast.For, value: Value) -> None:
    try:
        binding.assign_target(builder, node.target, value, node.target)
    except RefusedError:
        _poison(builder, node.target)


def _poison(builder: Builder, target: ast.expr) -> None:
    for name in ast.walk(target):
        if isinstance(name, ast.Name):
            binding.poison(builder, name.id, name)


def _judge_body(builder: Builder, node: ast.For) -> None:
    """The loop itself was refused; its body is still judged."""
    frame = builder.frame
    entry = None if frame.flow is None else set(frame.flow)
    frame.depth += 1
    with builder.nested():
        frame.loops.append(Loop())
        _poison(builder, node.target)
        statements.build_block(builder, node.body)
        frame.loops.pop()
    frame.depth -= 1
    frame.flow = entry


# --- copies ----------------------------------------------------------------------------------------------------------


def _over_items(builder: Builder, node: ast.For, source: Listed) -> None:
    """One copy of the body per item, each in a scope that `continue` leaves; `break` leaves the scope around all."""
    frame = builder.frame
    entry = None if frame.flow is None else set(frame.flow)
    loop = Loop(builder.temporary("break"), "")
    frame.depth += 1
    with builder.nested() as copies:
        for number in range(source.count):
            if source.limit is not None:
                _end_at_limit(builder, node, loop, source.limit, number)
            _copy(builder, node, loop, source, number)
            if frame.flow is None:
                break
    frame.depth -= 1
    frame.flow = merge([frame.flow, *loop.break_flows, *([] if source.runs else [entry])])
    label = loop.break_label
    if label is not None and label in loop.used_labels:
        builder.emit(k.Scope(label, tuple(copies), span=builder.span(node.iter)))
    else:
        builder.block.extend(copies)


def _end_at_limit(builder: Builder, node: ast.For, loop: Loop, limit: k.Expr, number: int) -> None:
    """`zip` ends with its shortest part."""
    span = builder.span(node.iter)
    label = loop.break_label or ""
    loop.used_labels.add(label)
    loop.break_flows.append(None if builder.frame.flow is None else set(builder.frame.flow))
    reached = k.Compare("le", limit, k.Const(number, limit.type, span=span), span=span)
    builder.emit(k.If(reached, (k.Leave(label, span=span),), span=span))


def _copy(builder: Builder, node: ast.For, loop: Loop, source: Listed, number: int) -> None:
    frame = builder.frame
    label = builder.temporary("continue")
    loop.continue_label = label
    loop.continue_flows = []
    site, frame.site = frame.site, frame.site * 1000 + number + 1
    with builder.nested() as body:
        frame.loops.append(loop)
        _attempt_target(builder, node, source.item(builder, number))
        statements.build_block(builder, node.body)
        frame.loops.pop()
    frame.site = site
    frame.flow = merge([frame.flow, *loop.continue_flows])
    if label in loop.used_labels:
        builder.emit(k.Scope(label, tuple(body), span=builder.span(node.iter)))
    else:
        builder.block.extend(body)


# --- heads -----------------------------------------------------------------------------------------------------------


def _unrolled(builder: Builder, node: ast.expr) -> tuple[ast.expr, int]:
    """`ig.unroll(head, N)` as its head and factor."""
    if not isinstance(node, ast.Call) or not _is_unroll(builder, node):
        return node, COMPILER_CHOOSES
    given = calls.arguments(builder, node, ("loop", "factor"), optional=1)
    if "factor" not in given:
        return given["loop"], COMPILER_CHOOSES
    value = expressions.evaluate(builder, given["factor"])
    if isinstance(value, Literal) and isinstance(value.value, int) and not isinstance(value.value, bool):
        if 1 <= value.value <= LARGEST_FACTOR:
            return given["loop"], value.value
        problem = f"the unroll factor is {value.value}"
    else:
        problem = f"the unroll factor {builder.quoted(given['factor'])} is not known at compile time"
    builder.report(
        "IG145",
        problem,
        given["factor"],
        f"a factor is a constant from 1 to {LARGEST_FACTOR}",
        remedies=("leave it out to let the compiler choose", "write 1 to forbid unrolling"),
    )
    return given["loop"], COMPILER_CHOOSES


#: Largest factor that a loop may be unrolled by.
LARGEST_FACTOR = 1024


def _is_unroll(builder: Builder, node: ast.Call) -> bool:
    if not isinstance(node.func, ast.Name | ast.Attribute):
        return False
    with builder.nested():
        before = len(builder.reports)
        value = expressions.evaluate(builder, node.func)
        del builder.reports[before:]
    return value == FunctionValue("isogrid.unroll")


def _condition(builder: Builder, value: Value, node: ast.expr) -> k.Expr | None:
    try:
        return condition(builder, value, node, "condition")
    except RefusedError:
        return None
