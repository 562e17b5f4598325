"""Statements of kernel IR, each lowered into the innermost open block."""

from typing import assert_never

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir import sites
from isogrid.ir.types import Space
from isogrid.lowering.builder import Array, Builder
from isogrid.lowering.casts import converted
from isogrid.lowering.expressions import lower_expression, lower_subscript
from isogrid.lowering.loops import lower_for_head
from isogrid.lowering.machine import MACHINE, literal, negated
from isogrid.lowering.warps import lower_warp_collective


def lower_block(builder: Builder, block: k.Block) -> d.Block:
    with builder.block() as statements:
        for statement in block:
            lower_statement(builder, statement)
    return tuple(statements)


def lower_statement(builder: Builder, statement: k.Statement) -> None:
    builder.span = statement.span
    match statement:
        case k.Assign():
            _assign(builder, statement)
        case k.Evaluate():
            lower_expression(builder, statement.value)
        case k.Store():
            _store(builder, statement)
        case k.Atomic():
            _atomic(builder, statement)
        case k.Barrier():
            builder.emit(d.Barrier(span=statement.span))
        case k.Collective():
            _collective(builder, statement)
        case k.WarpBarrier():
            builder.emit(d.WarpBarrier(span=statement.span))
        case k.WarpCollective():
            lower_warp_collective(builder, statement)
        case k.If():
            _if(builder, statement)
        case k.For():
            _for(builder, statement)
        case k.While():
            _while(builder, statement)
        case k.Scope():
            builder.emit(d.Scope(statement.label, lower_block(builder, statement.body), span=statement.span))
        case k.Leave():
            builder.emit(d.Leave(statement.label, span=statement.span))
        case k.Break():
            builder.emit(d.Break(span=statement.span))
        case k.Continue():
            builder.emit(d.Continue(span=statement.span))
        case k.Return():
            builder.emit(d.Return(span=statement.span))
        case k.Assert():
            builder.check(lower_expression(builder, statement.condition), sites.assert_site(statement))
        case k.DeclareLocal():
            _declare_local(builder, statement)
        case _:
            assert_never(statement)


def _assign(builder: Builder, statement: k.Assign) -> None:
    value = lower_expression(builder, statement.value)
    if statement.name in builder.fixed:
        builder.emit(d.Let(statement.name, value, span=statement.span))
    else:
        builder.emit(d.Set(statement.name, value, span=statement.span))


# --- memory -----------------------------------------------------------------------------------------------------------


def _store(builder: Builder, statement: k.Store) -> None:
    array = builder.arrays[statement.array]
    value = lower_expression(builder, statement.value)
    indices = tuple([lower_expression(builder, index) for index in statement.indices])
    index = lower_subscript(builder, statement, array, indices)
    site = sites.narrow_site(statement) if statement.narrow_checked else None
    value = converted(builder, value, statement.value.type, array.element, site, statement.span)
    builder.emit(d.Store(statement.array, index, value, span=statement.span))


def _atomic(builder: Builder, statement: k.Atomic) -> None:
    array = builder.arrays[statement.array]
    indices = tuple([lower_expression(builder, index) for index in statement.indices])
    index = lower_subscript(builder, statement, array, indices)
    if statement.value.type is not statement.element:
        index = builder.atom(index)
    expected = None
    if statement.expected is not None:
        expected = _as_element(builder, statement, lower_expression(builder, statement.expected), statement.expected)
    value = _as_element(builder, statement, lower_expression(builder, statement.value), statement.value)
    total = None
    if statement.op == "add" and statement.total_checked and statement.element.is_checked:
        total = builder.site(builder.total_sites[statement.array])
    builder.emit(
        d.Atomic(
            statement.op,
            statement.array,
            index,
            value,
            expected,
            statement.element,
            total,
            statement.target,
            span=statement.span,
        )
    )


def _as_element(builder: Builder, statement: k.Atomic, value: d.Expr, node: k.Expr) -> d.Expr:
    """An operand of an atomic, narrowed with a check where its type is not the element's."""
    site = sites.narrow_site(statement)
    return converted(builder, value, node.type, statement.element, site, statement.span)


def _declare_local(builder: Builder, statement: k.DeclareLocal) -> None:
    extents = tuple(literal(extent, d.Machine.I64) for extent in statement.shape)
    count = 1
    for extent in statement.shape:
        count *= extent
    if statement.name not in builder.arrays:
        builder.arrays[statement.name] = Array(statement.name, statement.element, Space.LOCAL, extents)
        builder.buffers.append(d.Buffer(statement.name, statement.element, Space.LOCAL, count, zeroed=statement.zeroed))
    if statement.zeroed:
        builder.emit(d.Fill(statement.name, span=statement.span))


def _collective(builder: Builder, statement: k.Collective) -> None:
    value = lower_expression(builder, statement.value)
    total = None
    adds = statement.op in ("sum", "scan")
    if adds and statement.total_checked and statement.type.is_checked:
        total = builder.site(sites.collective_site(statement))
    builder.emit(
        d.Collective(
            statement.op,
            statement.target,
            value,
            statement.type,
            statement.exclusive,
            total,
            span=statement.span,
        )
    )


# --- control ----------------------------------------------------------------------------------------------------------


def _if(builder: Builder, statement: k.If) -> None:
    condition = lower_expression(builder, statement.condition)
    if isinstance(condition, d.Literal):
        builder.emit_all(lower_block(builder, statement.then if condition.bits else statement.otherwise))
        return
    then = lower_block(builder, statement.then)
    otherwise = lower_block(builder, statement.otherwise)
    if not then and otherwise:
        condition, then, otherwise = negated(condition), otherwise, ()
    builder.emit(d.If(condition, then, otherwise, span=statement.span))


def _for(builder: Builder, loop: k.For) -> None:
    start, step, trips = lower_for_head(builder, loop)
    machine = MACHINE[loop.type]
    counter = loop.counter
    if counter in builder.pure_counters and counter not in builder.used_counters:
        builder.used_counters.add(counter)
    else:
        counter = builder.fresh(loop.counter)
    with builder.block() as body:
        if loop.counter in builder.pure_counters:
            builder.counters[loop.counter] = d.Value(counter, machine)
        else:
            builder.emit(d.Set(loop.counter, d.Value(counter, machine), span=loop.span))
        for statement in loop.body:
            lower_statement(builder, statement)
    builder.counters.pop(loop.counter, None)
    builder.emit(d.For(counter, start, step, trips, tuple(body), machine, loop.unroll, span=loop.span))


def _while(builder: Builder, loop: k.While) -> None:
    with builder.block() as body:
        for statement in loop.prelude:
            lower_statement(builder, statement)
        builder.span = loop.span
        condition = lower_expression(builder, loop.condition)
        leave = negated(condition)
        if not isinstance(leave, d.Literal):
            builder.emit(d.If(leave, (d.Break(span=loop.span),), span=loop.span))
        elif leave.bits:
            builder.emit(d.Break(span=loop.span))
        for statement in loop.body:
            lower_statement(builder, statement)
    builder.emit(d.Loop(tuple(body), loop.unroll, id(loop) in builder.bounded, span=loop.span))
