"""Grouped kernels: one group after another, each region of the body as a loop over the group's threads.

The precise twin keeps `limit`, the lowest thread that trapped in this interval: later regions of the interval run only
the threads below it, so that at the barrier the record names the lowest one.
"""

from dataclasses import replace
from typing import assert_never

from isogrid.backends.cpu.emit_collective import emit_collective, scratch_elements
from isogrid.backends.cpu.emit_counted import counted
from isogrid.backends.cpu.emit_extremes import emit_extreme
from isogrid.backends.cpu.emit_frame import FunctionFrame, variable_slots, work_array
from isogrid.backends.cpu.emit_group_regions import emit_region
from isogrid.backends.cpu.emit_group_state import Group
from isogrid.backends.cpu.emit_guards import LaneFacts
from isogrid.backends.cpu.emit_lanes import count_on, write_record, zeroed_slots
from isogrid.backends.cpu.emit_levels import GROUP, find_levels
from isogrid.backends.cpu.emit_memory import evaluate
from isogrid.backends.cpu.emit_polled import poll
from isogrid.backends.cpu.emit_private import PrivateSums, private_sums
from isogrid.backends.cpu.emit_regions import (
    Nest,
    Plan,
    Region,
    Step,
    crossing_values,
    group_constructs,
    plan_body,
)
from isogrid.backends.cpu.emit_strategy import Strategy, lane_axis_of
from isogrid.backends.cpu.emit_values import BufferRef, Frame, Lanes, Val, write_slot
from isogrid.backends.cpu.emit_warps import Warps, warp_scratch
from isogrid.backends.cpu.layout import RECORD_LOCAL, RECORD_OPERANDS, RECORD_SITE, RECORD_THREAD, totalled
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar, Space
from isogrid.printers.llvm_text import element_type
from isogrid.support.errors import CompilerBug


def emit_groups(frame: FunctionFrame, strategy: Strategy) -> None:
    """Units are groups, in linear order."""
    kernel = frame.kernel
    axis = lane_axis_of(kernel.geometry.block)
    constructs = group_constructs(kernel.body)
    levels = find_levels(kernel, axis, constructs)
    sums_apart = frozenset[str]() if frame.code.precise else frozenset(private_sums(kernel))
    facts = LaneFacts(levels, {b.name: b.space for b in kernel.buffers}, axis, True, sums=sums_apart)
    plan, _ = plan_body(kernel.body, facts, constructs)
    variables = dict(kernel.variables) | levels.escaping
    crossing = crossing_values(plan, levels, variables)
    uniform = {n: t for n, t in variables.items() if levels.values.get(n, GROUP) == GROUP}
    lanes = Lanes(frame.code, 1, {}, {}, variable_slots(frame, {}, 1, uniform), Val(Machine.I64, "0"), levels)
    block = kernel.geometry.block
    group = Group(
        frame, lanes, levels, facts, _row_facts(kernel, facts, constructs), crossing, {}, strategy, block, axis, "", ""
    )
    shared = _allocate(group)
    sums = PrivateSums(frame)
    w = frame.code.w
    counts = [_group_count(group, a) for a in range(len(group.block))]

    def one(linear: str) -> None:
        group.linear = linear
        lanes.specials = _group_specials(group, linear, counts)
        poll(lanes)
        if group.limit:
            w.do(f"store i64 {group.threads}, ptr {group.limit}")
        for pointer, size in shared:
            _zero(group, pointer, size)
        zeroed_slots(lanes)
        done = w.block("group.end")
        lanes.frames = [Frame("thread", "", done, "", 0)]
        _nodes(group, plan)
        w.place(done)
        _end_interval(group)

    sums.over(lambda first, end: counted(w, first, end, "1", one))


def _row_facts(kernel: d.Kernel, facts: LaneFacts, constructs: frozenset[int]) -> LaneFacts | None:
    axes = [axis for axis in range(facts.lane_axis) if kernel.geometry.block[axis] > 1]
    if len(axes) != 1:
        return None
    return replace(facts, levels=find_levels(kernel, axes[0], constructs), lane_axis=axes[0])


def _group_count(group: Group, axis: int) -> str:
    extent, block = group.frame.extents[axis], group.block[axis]
    if group.frame.kernel.geometry.kind == "groups":
        return extent
    w = group.lanes.w
    return w.emit(f"udiv i64 {w.emit(f'add i64 {extent}, {block - 1}')}, {block}")


def _group_specials(group: Group, linear: str, counts: list[str]) -> dict[tuple[str, int], Val]:
    w = group.lanes.w
    specials: dict[tuple[str, int], Val] = {}
    rest = linear
    for axis in reversed(range(len(counts))):
        place = rest
        if axis:
            place = w.emit(f"urem i64 {rest}, {counts[axis]}")
            rest = w.emit(f"udiv i64 {rest}, {counts[axis]}")
        specials[("group", axis)] = Val(Machine.I64, place)
        specials[("groups", axis)] = Val(Machine.I64, counts[axis])
        specials[("extent", axis)] = Val(Machine.I64, group.frame.extents[axis])
        first = w.emit(f"mul nsw i64 {place}, {group.block[axis]}")
        specials[("first", axis)] = Val(Machine.I64, first)
    return specials


# --- memory of a group -----------------------------------------------------------------------------------------------


def _allocate(group: Group) -> list[tuple[str, int]]:
    """Shared, local and kept arrays, scratch of collectives; what must be zero when a group starts is returned."""
    frame, code = group.frame, group.frame.code
    zeroed: list[tuple[str, int]] = []
    pitch = group.threads + group.strategy.width
    totals = totalled(frame.kernel.body)
    for buffer in frame.kernel.buffers:
        size, count = element_type(buffer.element).bits // 8, buffer.count or 0
        if buffer.space is Space.LOCAL:
            pointer = work_array(frame, "", count * pitch, size, "local")
            code.buffers[buffer.name] = BufferRef(pointer, buffer.element, Space.LOCAL, count, pitch)
        elif buffer.space is Space.SHARED:
            pointer = work_array(frame, "", count, size, "shared")
            shadow = ""
            if buffer.name in totals:
                shadow = work_array(frame, "", count, 8, "shadow")
                zeroed.append((shadow, count * 8))
            total = totals.get(buffer.name)
            code.buffers[buffer.name] = BufferRef(pointer, buffer.element, Space.SHARED, count, 1, shadow, total)
            if buffer.zeroed:
                zeroed.append((pointer, count * size))
    if any(b.space is Space.SHARED and b.shadow for b in code.buffers.values()):
        code.dirty = code.w.alloca("i1", "dirty")
        code.w.do(f"store i1 false, ptr {code.dirty}")
    for name, type in group.crossing.kept.items():
        pointer = work_array(frame, "", pitch, max(type.bits // 8, 1), "kept")
        group.kept[name] = BufferRef(pointer, _ELEMENTS[type], Space.SHARED, group.threads)
    for scalar in dict.fromkeys((*scratch_elements(frame.kernel.body), *warp_scratch(frame.kernel))):
        size = element_type(scalar).bits // 8
        # Slot 1, the first thread's, starts a cache line, so that no vector crosses one.
        base = work_array(frame, "", pitch + 64 // size, size, "scratch")
        pointer = code.w.emit(f"getelementptr inbounds i8, ptr {base}, i64 {64 - size}", "p")
        code.buffers[f"scratch {scalar.value}"] = BufferRef(pointer, scalar, Space.SHARED, group.threads + 1)
    if code.precise:
        group.limit = code.w.alloca("i64", "limit")
    return zeroed


#: The element type that stores a value of a machine type; only its machine type matters.
_ELEMENTS = {
    Machine.I1: Scalar.BOOL,
    Machine.I8: Scalar.I8,
    Machine.I16: Scalar.I16,
    Machine.I32: Scalar.I32,
    Machine.I64: Scalar.I64,
    Machine.F32: Scalar.F32,
    Machine.F64: Scalar.F64,
}


def _zero(group: Group, pointer: str, size: int) -> None:
    types = ["ptr", "i8", "i64", "i1"]
    group.lanes.w.declare("llvm.memset.p0.i64", "void", types)
    group.lanes.w.do(f"call void @llvm.memset.p0.i64(ptr align 64 {pointer}, i8 0, i64 {size}, i1 false)")


# --- nodes -----------------------------------------------------------------------------------------------------------


def _nodes(group: Group, plan: Plan) -> None:
    taken = False
    for place, node in enumerate(plan):
        if not group.lanes.w.open:
            return
        after = plan[place + 1] if place + 1 < len(plan) else None
        if taken:
            taken = False
            continue
        match node:
            case Region():
                taken = isinstance(after, Step) and _with_extreme(group, node, after)
                if not taken:
                    emit_region(group, node.body)
            case Step():
                _step(group, node)
            case Nest():
                _nest(group, node)
            case _:
                assert_never(node)


def _with_extreme(group: Group, region: Region, step: Step) -> bool:
    """Whether the region and the operation behind it are emitted together."""

    def usual() -> None:
        emit_region(group, region.body)
        _step(group, step)

    return step.stored and isinstance(step.node, d.Collective) and emit_extreme(group, region.body, step.node, usual)


def _step(group: Group, step: Step) -> None:
    lanes, node = group.lanes, step.node
    match node:
        case d.Let():
            value = evaluate(lanes, node.value)
            if node.name in lanes.slots:
                write_slot(lanes, lanes.slots[node.name], value)
            else:
                lanes.env[node.name] = value
        case d.Set():
            write_slot(lanes, lanes.slots[node.name], evaluate(lanes, node.value))
        case d.Barrier():
            _end_interval(group)
        case d.Collective():
            _collective(group, node, step)
        case d.WarpBarrier() | d.WarpCollective() | d.Agree():
            warps = Warps(lanes, lambda body: emit_region(group, body), group.frame.kernel.warp, group.threads)
            warps.emit(node, group.limit, group.linear)
        case d.Break() | d.Continue() | d.Leave() | d.Return():
            lanes.w.jump(_target(lanes, node).exit)
        case _:
            raise CompilerBug(f"{type(node).__name__} is no step of a group")


def _target(lanes: Lanes, node: d.Break | d.Continue | d.Leave | d.Return) -> Frame:
    kind = {d.Break: "loop", d.Continue: "trip", d.Leave: "scope", d.Return: "thread"}[type(node)]
    label = node.label if isinstance(node, d.Leave) else ""
    return next(f for f in reversed(lanes.frames) if f.kind == kind and f.label == label)


def _nest(group: Group, nest: Nest) -> None:
    node, lanes, w = nest.node, group.lanes, group.lanes.w
    match node:
        case d.If():
            then, otherwise, end = w.block("then"), w.block("else"), w.block("end")
            w.branch(_uniform(lanes, node.condition).text, then, otherwise)
            w.place(then)
            _nodes(group, nest.body)
            w.jump(end)
            w.place(otherwise)
            _nodes(group, nest.otherwise)
            w.place(end)
        case d.Scope():
            end = w.block("scope.end")
            lanes.frames.append(Frame("scope", node.label, end, "", 0))
            _nodes(group, nest.body)
            lanes.frames.pop()
            w.place(end)
        case d.Loop():
            _loop(group, node, nest.body)
        case d.For():
            _for(group, node, nest.body)
        case _:
            assert_never(node)


def _uniform(lanes: Lanes, node: d.Expr) -> Val:
    try:
        return evaluate(lanes, node)
    except KeyError as missing:
        raise CompilerBug(f"control flow around a barrier depends on {missing} of one thread") from missing


def _loop(group: Group, node: d.Loop, body: Plan) -> None:
    lanes, w = group.lanes, group.lanes.w
    head, again, end = w.block("loop"), w.block("loop.again"), w.block("loop.end")
    w.place(head)
    _trip(group, body, again, end)
    if not node.bounded:
        poll(lanes)
    w.jump(head)
    w.place(end)


def _trip(group: Group, body: Plan, again: str, end: str) -> None:
    lanes = group.lanes
    lanes.frames += [Frame("loop", "", end, "", 0), Frame("trip", "", again, "", 0)]
    _nodes(group, body)
    del lanes.frames[-2:]
    lanes.w.place(again)


def _for(group: Group, node: d.For, body: Plan) -> None:
    lanes, w = group.lanes, group.lanes.w
    start, step = _uniform(lanes, node.start), _uniform(lanes, node.step)
    trips = _uniform(lanes, node.trips)
    trip = w.alloca("i64", "trip")
    w.do(f"store i64 0, ptr {trip}")
    head, inside, again, end = w.block("for"), w.block("for.body"), w.block("for.again"), w.block("for.end")
    w.place(head)
    count = Val(Machine.I64, w.emit(f"load i64, ptr {trip}"))
    w.branch(w.emit(f"icmp ult i64 {count.text}, {trips.text}"), inside, end)
    w.place(inside)
    count_on(lanes, node, count, (start, step))
    _trip(group, body, again, end)
    w.do(f"store i64 {w.emit(f'add nuw i64 {count.text}, 1')}, ptr {trip}")
    w.jump(head)
    w.place(end)


def _collective(group: Group, node: d.Collective, step: Step) -> None:
    """Each thread's value to scratch, combine, each thread's result from there, with a barrier in between."""

    def region(body: d.Block) -> None:
        emit_region(group, body)

    def trapped(site: int, thread: str) -> None:
        _record_total(group, site, thread, None)

    def barrier() -> None:
        _end_interval(group)

    width = group.strategy.width
    emit_collective(
        group.lanes, node, group.threads, width, region, barrier, trapped, stored=step.stored, loaded=step.loaded
    )


# --- intervals -------------------------------------------------------------------------------------------------------


def _end_interval(group: Group) -> None:
    """At a barrier: the lowest trapped thread of the interval ends the range, then totals of shared memory are due."""
    w, code = group.lanes.w, group.frame.code
    if group.limit:
        on = w.block("interval")
        limit = w.emit(f"load i64, ptr {group.limit}")
        w.branch(w.emit(f"icmp eq i64 {limit}, {group.threads}"), on, code.trap_label)
        w.place(on)
    if not code.dirty:
        return
    due, done = w.block("totals"), w.block("totals.end")
    w.branch(w.emit(f"load i1, ptr {code.dirty}"), due, done)
    w.place(due)
    for buffer in code.buffers.values():
        if buffer.space is Space.SHARED and buffer.shadow:
            _check_totals(group, buffer)
    w.do(f"store i1 false, ptr {code.dirty}")
    w.place(done)


def _check_totals(group: Group, buffer: BufferRef) -> None:
    w, code = group.lanes.w, group.frame.code

    def one(element: str) -> None:
        address = w.emit(f"getelementptr i64, ptr {buffer.shadow}, i64 {element}", "p")
        bad, good = w.block("total.bad"), w.block("total.good")
        wraps = w.emit(f"load i64, ptr {address}")
        w.branch(w.emit(f"icmp eq i64 {wraps}, 0"), good, bad)
        w.place(bad)
        _record_total(group, buffer.total or 0, "-1", element)
        w.place(good)

    code.traps = True
    counted(w, "0", str(buffer.count), "1", one)


def _record_total(group: Group, site: int, thread: str, element: str | None) -> None:
    lanes = group.lanes
    if group.frame.code.precise:
        write_record(lanes, RECORD_SITE, str(site + 1))
        write_record(lanes, RECORD_THREAD, group.linear)
        write_record(lanes, RECORD_LOCAL, thread)
        if element is not None:
            write_record(lanes, RECORD_OPERANDS, element)
    group.frame.code.traps = True
    lanes.w.jump(group.frame.code.trap_label)
