"""One region of a group between barriers: a loop over its threads, with what they keep carried in and out."""

from dataclasses import replace
from typing import assert_never

from isogrid.backends.cpu.emit_counted import counted
from isogrid.backends.cpu.emit_frame import variable_slots, work_array
from isogrid.backends.cpu.emit_group_state import Group
from isogrid.backends.cpu.emit_guards import Split, split_guards
from isogrid.backends.cpu.emit_interior import find_interior
from isogrid.backends.cpu.emit_lanes import emit_thread, in_versions, zeroed_slots
from isogrid.backends.cpu.emit_levels import GROUP, LANE, ROW, expressions_of, names_in
from isogrid.backends.cpu.emit_memory import load, store
from isogrid.backends.cpu.emit_regions import (
    every_statement,
)
from isogrid.backends.cpu.emit_strategy import edge_width, reads_lines, region_width
from isogrid.backends.cpu.emit_units import LaneBody, bounded_range, extreme, lane_loop
from isogrid.backends.cpu.emit_values import Lanes, Val, read_slot, write_slot
from isogrid.backends.cpu.layout import RECORD_LOCAL
from isogrid.ir import device as d
from isogrid.ir.device import Machine

#: Statements of a region whose vectors may be written out one after another.
_SMALL = 8
#: Rows that run together where they share loads.
_TOGETHER = 4


def emit_region(group: Group, body: d.Block) -> None:
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
    split = Split((), (), body) if _keeps_lets(group, body) else split_guards(body, facts)
    outside = replace(lanes, specials=specials, env=dict(lanes.env))
    hi = str(group.row)
    if group.limit:
        left = w.emit(f"sub i64 {w.emit(f'load i64, ptr {group.limit}')}, {start}")
        hi = extreme(w, "smin", hi, left)
    interior = None if group.limit or split.single else find_interior(body, facts)
    width, lines = 1 if split.single else group.strategy.width, False
    if width > 1 and not group.strategy.fixed:
        inner = split.body if interior is None else interior.body
        width = region_width(inner, group.facts, group.strategy, group.row)
        lines = width > group.strategy.width and reads_lines(inner, group.facts)
    unrolled = 8 if sum(1 for _ in every_statement(body)) <= _SMALL else 1

    def threads(inner: d.Block) -> LaneBody:
        used = _names_of(inner)

        def run(first: str, mask: str | None, width: int) -> None:
            def version(slow: str) -> None:
                _threads(group, inner, specials, used, width, row, start, first, mask, slow, lines)

            if width == 1 or mask is not None:
                version("")
            else:
                in_versions(lanes, inner, version)

        return run

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
    lane_loop(group.frame.code, edge_width(width), *bounded_range(outside, split, "0", hi), threads(split.body))
    w.place(done)


def _keeps_lets(group: Group, body: d.Block) -> bool:
    """Whether other regions read a `Let` of this one: every thread must then run it, also those that a guard behind it
    leaves out."""
    lets = {s.name for s in body if isinstance(s, d.Let)}
    return not lets.isdisjoint(group.crossing.kept) or not lets.isdisjoint(group.levels.escaping)


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
    lines: bool,
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
    lanes.mask, lanes.slow, lanes.lines = mask, slow, lines
    emit_thread(lanes, body)
    lanes.mask, lanes.slow, lanes.lines = None, "", False
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
