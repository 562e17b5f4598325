"""Grouped kernels: one group after another, each region of the body as a loop over the group's threads.

The precise twin keeps `limit`, the lowest thread that trapped in this interval: later regions of the interval run only
the threads below it, so that at the barrier the record names the lowest one.
"""

from dataclasses import dataclass, field, replace
from typing import assert_never

from isogrid.backends.cpu.emit_collective import emit_collective, scratch_elements
from isogrid.backends.cpu.emit_frame import FunctionFrame, variable_slots, work_array
from isogrid.backends.cpu.emit_guards import LaneFacts, Split, split_guards
from isogrid.backends.cpu.emit_interior import find_interior
from isogrid.backends.cpu.emit_lanes import emit_thread, in_versions, poll, write_record, zeroed_slots
from isogrid.backends.cpu.emit_levels import GROUP, LANE, ROW, Levels, expressions_of, find_levels, names_in
from isogrid.backends.cpu.emit_memory import evaluate, load, store
from isogrid.backends.cpu.emit_private import PrivateSums, private_sums
from isogrid.backends.cpu.emit_regions import (
    Crossing,
    Nest,
    Plan,
    Region,
    Step,
    crossing_values,
    every_statement,
    group_constructs,
    plan_body,
)
from isogrid.backends.cpu.emit_strategy import Strategy, lane_axis_of, region_width
from isogrid.backends.cpu.emit_units import LaneBody, bounded_range, counted, extreme, lane_loop
from isogrid.backends.cpu.emit_values import BufferRef, Frame, Lanes, Val, apply, read_slot, write_slot
from isogrid.backends.cpu.emit_warps import Warps, warp_scratch
from isogrid.backends.cpu.layout import RECORD_LOCAL, RECORD_OPERANDS, RECORD_SITE, RECORD_THREAD, totalled
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar, Space
from isogrid.printers.llvm_text import element_type
from isogrid.support.errors import CompilerBug


@dataclass(slots=True)
class Group:
    """What emission of one grouped function keeps. `lanes` holds the values of the whole group, one lane wide."""

    frame: FunctionFrame
    lanes: Lanes
    levels: Levels
    facts: LaneFacts
    crossing: Crossing
    kept: dict[str, BufferRef]
    strategy: Strategy
    block: tuple[int, ...]
    axis: int
    linear: str
    limit: str
    #: Where this region's new values of a row go while its threads still start from the old ones.
    renewed: dict[str, BufferRef] = field(default_factory=dict[str, BufferRef])

    @property
    def threads(self) -> int:
        size = 1
        for extent in self.block:
            size *= extent
        return size

    @property
    def row(self) -> int:
        """Threads along the lane axis."""
        return self.block[self.axis]


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
    group = Group(frame, lanes, levels, facts, crossing, {}, strategy, kernel.geometry.block, axis, "", "")
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


#: Statements of a region whose vectors may be written out one after another.
_SMALL = 8
#: Rows that run together where they share loads.
_TOGETHER = 4

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
    for node in plan:
        if not group.lanes.w.open:
            return
        match node:
            case Region():
                _region(group, node.body)
            case Step():
                _step(group, node.node, node.stored)
            case Nest():
                _nest(group, node)
            case _:
                assert_never(node)


def _step(group: Group, node: d.Statement, stored: bool) -> None:
    lanes = group.lanes
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
            _collective(group, node, stored)
        case d.WarpBarrier() | d.WarpCollective() | d.Agree():
            warps = Warps(lanes, lambda body: _region(group, body), group.frame.kernel.warp, group.threads)
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
    index = count if node.type is Machine.I64 else apply(lanes, "trunc", (count,), node.type)
    counter = apply(lanes, "iadd", (start, apply(lanes, "imul", (index, step), node.type)), node.type)
    if node.counter in lanes.slots:
        write_slot(lanes, lanes.slots[node.counter], counter)
    else:
        lanes.env[node.counter] = counter
    _trip(group, body, again, end)
    w.do(f"store i64 {w.emit(f'add nuw i64 {count.text}, 1')}, ptr {trip}")
    w.jump(head)
    w.place(end)


def _collective(group: Group, node: d.Collective, stored: bool) -> None:
    """Each thread's value to scratch, combine, each thread's result from there, with a barrier in between."""

    def region(body: d.Block) -> None:
        _region(group, body)

    def trapped(site: int, thread: str) -> None:
        _record_total(group, site, thread, None)

    emit_collective(
        group.lanes, node, group.threads, group.strategy.width, region, lambda: _end_interval(group), trapped, stored
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


# --- regions ---------------------------------------------------------------------------------------------------------


def _region(group: Group, body: d.Block) -> None:
    """A loop over the group's threads: rows of the leading axes, lanes along the lane axis."""
    w, code = group.lanes.w, group.frame.code
    body = (*_prologue(group, body), *body)
    rows = group.threads // group.row
    before = code.trap_label
    trapped, done = w.block("region.trap"), w.block("region.end")
    if group.limit:
        code.trap_label = trapped
    _renew(group, body, rows)
    if rows == 1:
        _row(group, body, "0")
    else:
        _rows(group, body, rows)
    for name, new in group.renewed.items():
        _copy_rows(group, group.kept[name].pointer, new.pointer, name, rows)
    group.renewed = {}
    code.trap_label = before
    if not group.limit:
        return
    w.jump(done)
    w.place(trapped)
    lowest = w.emit(f"getelementptr i64, ptr {code.record}, i64 {RECORD_LOCAL}", "p")
    limit = w.emit(f"load i64, ptr {lowest}")
    w.do(f"store i64 {limit}, ptr {group.limit}")
    # Nothing may be computed for the whole group from what thread 0 did not reach.
    w.branch(w.emit(f"icmp eq i64 {limit}, 0"), before, done)
    w.place(done)


def _renew(group: Group, body: d.Block, rows: int) -> None:
    """Give row-wide values that the region both reads and assigns a second place: every thread of the row runs the
    assignment, and each must start from the value before the region."""
    read, written = _names_of(body)
    for name in sorted(read & written & group.kept.keys()):
        if group.levels.values.get(name, GROUP) != ROW:
            continue
        old = group.kept[name]
        size = max(group.crossing.kept[name].bits // 8, 1)
        pointer = work_array(group.frame, "", rows, size, "renewed")
        group.renewed[name] = replace(old, pointer=pointer)
        _copy_rows(group, pointer, old.pointer, name, rows)


def _copy_rows(group: Group, to: str, source: str, name: str, rows: int) -> None:
    size = rows * max(group.crossing.kept[name].bits // 8, 1)
    group.lanes.w.declare("llvm.memcpy.p0.p0.i64", "void", ["ptr", "ptr", "i64", "i1"])
    group.lanes.w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {size}, i1 false)")


def _rows(group: Group, body: d.Block, rows: int) -> None:
    """Rows in turn; several at a time where they load the same elements, so that LLVM sees each load once."""
    w = group.lanes.w
    together = _TOGETHER if rows % _TOGETHER == 0 and not group.limit and _shared_loads(group, body) else 1

    def several(row: str) -> None:
        for step in range(together):
            _row(group, body, row if step == 0 else w.emit(f"add nuw nsw i64 {row}, {step}"))

    counted(w, "0", str(rows), str(together), several)


def _shared_loads(group: Group, body: d.Block) -> bool:
    """Whether many loads of straight-line code give every row the same lanes."""
    lets = {s.name: s.value for s in body if isinstance(s, d.Let)}

    def knows_row(node: d.Expr) -> bool:
        match node:
            case d.Special():
                return node.kind in ("local", "thread", "linear") and node.axis != group.axis
            case d.Value():
                return node.name not in lets or knows_row(lets[node.name])
            case d.Op():
                return any(knows_row(a) for a in node.arguments)
            case d.Load():
                return True
            case d.Literal() | d.Argument():
                return False
            case _:
                assert_never(node)

    loads = [s.value for s in body if isinstance(s, d.Let) and isinstance(s.value, d.Load)]
    return sum(not knows_row(load.index) for load in loads) >= _TOGETHER


def _prologue(group: Group, body: d.Block) -> tuple[d.Let, ...]:
    """`Let`s of other regions that this one computes again, in an order that defines before use."""
    again, found = group.crossing.again, dict[str, d.Let]()

    def need(names: frozenset[str]) -> None:
        for name in sorted(names):
            if name in again and name not in found and name not in own:
                need(names_in(again[name].value))
                found[name] = again[name]

    own = {s.name for s in every_statement(body) if isinstance(s, d.Let)}
    for node in every_statement(body):
        for expression in expressions_of(node):
            need(names_in(expression))
    return tuple(found.values())


def _row(group: Group, body: d.Block, row: str) -> None:
    lanes, w = group.lanes, group.lanes.w
    specials = dict(lanes.specials)
    rest = row
    for axis in reversed(range(group.axis)):
        place = rest
        if axis:
            place = w.emit(f"urem i64 {rest}, {group.block[axis]}")
            rest = w.emit(f"udiv i64 {rest}, {group.block[axis]}")
        specials[("local", axis)] = Val(Machine.I64, place)
        specials[("thread", axis)] = Val(Machine.I64, w.emit(f"add nsw i64 {specials[('first', axis)].text}, {place}"))
    for axis in range(group.axis + 1, len(group.block)):
        specials[("local", axis)] = Val(Machine.I64, "0")
        specials[("thread", axis)] = specials[("first", axis)]
    start = "0" if row == "0" else w.emit(f"mul nsw i64 {row}, {group.row}")
    facts = replace(group.facts, hidden=_names_of(body)[0] - lanes.env.keys() - lanes.slots.keys())
    split = split_guards(body, facts)
    outside = replace(lanes, specials=specials, env=dict(lanes.env))
    hi = str(group.row)
    if group.limit:
        left = w.emit(f"sub i64 {w.emit(f'load i64, ptr {group.limit}')}, {start}")
        hi = extreme(w, "smin", hi, left)
    width = 1 if split.single else group.strategy.width
    if width > 1 and not group.strategy.fixed:
        width = region_width(split.body, group.facts, width)
    unrolled = 8 if sum(1 for _ in every_statement(body)) <= _SMALL else 1

    def threads(inner: d.Block) -> LaneBody:
        used = _names_of(inner)

        def run(first: str, mask: str | None, width: int) -> None:
            def version(slow: str) -> None:
                _threads(group, inner, specials, used, width, row, start, first, mask, slow)

            if width == 1 or mask is not None:
                version("")
            else:
                in_versions(lanes, inner, version)

        return run

    interior = None if group.limit or split.single else find_interior(body, facts)
    if interior is None:
        lane_loop(group.frame.code, width, *bounded_range(outside, split, "0", hi), threads(split.body), unrolled)
        return
    low, high = bounded_range(outside, Split(interior.bounds, (), ()), "0", hi)
    inside, edge, done = w.block("interior"), w.block("edge"), w.block("row.end")
    low_fits, high_fits = w.emit(f"icmp sle i64 {low}, 0"), w.emit(f"icmp sge i64 {high}, {hi}")
    w.branch(w.emit(f"and i1 {low_fits}, {high_fits}"), inside, edge)
    w.place(inside)
    lane_loop(group.frame.code, width, "0", hi, threads(interior.body), unrolled)
    w.jump(done)
    w.place(edge)
    lane_loop(group.frame.code, width, *bounded_range(outside, split, "0", hi), threads(split.body))
    w.place(done)


def _threads(
    group: Group,
    body: d.Block,
    specials: dict[tuple[str, int], Val],
    used: tuple[frozenset[str], frozenset[str]],
    width: int,
    row: str,
    start: str,
    first: str,
    mask: str | None,
    slow: str,
) -> None:
    """One vector of threads of a region: kept values come in, the body runs, what it assigned goes out."""
    w, stride, axis = group.lanes.w, 0 if width == 1 else 1, group.axis
    here = dict(specials)
    here[("local", axis)] = Val(Machine.I64, first, stride)
    base = w.emit(f"add nsw i64 {specials[('first', axis)].text}, {first}")
    here[("thread", axis)] = Val(Machine.I64, base, stride)
    linear = first if start == "0" else w.emit(f"add nsw i64 {start}, {first}")
    here[("linear", 0)] = Val(Machine.I64, linear, stride)
    here[("record", 0)] = Val(Machine.I64, group.linear)
    here[("record", 1)] = Val(Machine.I64, linear)
    read, written = used
    kept = group.crossing.kept
    variables = dict(group.frame.kernel.variables) | group.levels.escaping
    names = {n: t for n, t in variables.items() if n in read | written and n not in group.lanes.slots}
    varying = {n: group.levels.values.get(n, GROUP) == LANE for n in names}
    slots = variable_slots(group.frame, varying, width, names)
    thread = Val(Machine.I64, linear, stride)
    lanes = Lanes(group.frame.code, width, here, dict(group.lanes.env), slots, thread, group.levels, None)
    zeroed_slots(lanes)
    lanes.slots = slots | group.lanes.slots
    for name in sorted((read | written) & kept.keys()):
        if name in slots:
            write_slot(lanes, slots[name], _kept(group, lanes, name, row))
        elif name in read and name not in written:
            lanes.env[name] = _kept(group, lanes, name, row)
    lanes.mask, lanes.slow = mask, slow
    emit_thread(lanes, body)
    lanes.mask, lanes.slow = None, ""
    for name in sorted(written & kept.keys()):
        value = read_slot(lanes, slots[name]) if name in slots else lanes.env[name]
        place = group.renewed.get(name, group.kept[name])
        store(lanes, place, _kept_place(group, lanes, name, row), value)


def _kept_place(group: Group, lanes: Lanes, name: str, row: str) -> Val:
    if group.levels.values.get(name, GROUP) == ROW:
        return Val(Machine.I64, row)
    return lanes.thread


def _kept(group: Group, lanes: Lanes, name: str, row: str) -> Val:
    return load(lanes, group.kept[name], _kept_place(group, lanes, name, row), group.crossing.kept[name])


def _names_of(body: d.Block) -> tuple[frozenset[str], frozenset[str]]:
    """Names that statements read, and names that they define or assign."""
    read: set[str] = set()
    written: set[str] = set()
    for node in every_statement(body):
        for expression in expressions_of(node):
            read |= names_in(expression)
        match node:
            case d.Let() | d.Set():
                written.add(node.name)
            case d.For():
                written.add(node.counter)
            case d.Atomic() if node.target:
                written.add(node.target)
            case _:
                continue
    return frozenset(read), frozenset(written)
