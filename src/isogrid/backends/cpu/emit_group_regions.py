"""One region of a group between barriers: a loop over its threads, with what they keep carried in and out."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from isogrid.backends.cpu.emit_counted import counted
from isogrid.backends.cpu.emit_frame import work_array
from isogrid.backends.cpu.emit_group_state import Group
from isogrid.backends.cpu.emit_group_threads import Row, Vector, names_of, row_of, run_side_by_side, run_threads
from isogrid.backends.cpu.emit_guards import Bound, Split, split_guards
from isogrid.backends.cpu.emit_interior import Interior, find_interior
from isogrid.backends.cpu.emit_lanes import in_versions
from isogrid.backends.cpu.emit_levels import GROUP, ROW, expressions_of, names_in
from isogrid.backends.cpu.emit_regions import every_statement
from isogrid.backends.cpu.emit_strategy import edge_width, reads_lines, region_width
from isogrid.backends.cpu.emit_tiles import TOGETHER, shares_loads, tile_width
from isogrid.backends.cpu.emit_units import LaneBody, bounded_range, extreme, lane_loop
from isogrid.backends.cpu.emit_values import BufferRef, Lanes
from isogrid.backends.cpu.layout import RECORD_LOCAL
from isogrid.ir import device as d

#: Statements of a region whose vectors may be written out one after another.
_SMALL = 8


def emit_region(group: Group, body: d.Block) -> None:
    """A loop over the group's threads: rows of the leading axes, lanes along the lane axis."""
    w, code = group.lanes.w, group.frame.code
    body = with_prologue(group, body)
    rows = group.threads // group.row
    before = code.trap_label
    trapped, done = w.block("region.trap"), w.block("region.end")
    if group.limit:
        code.trap_label = trapped
    _renew(group, body, rows)
    _rows(group, body, rows)
    renewed, group.renewed = group.renewed, {}
    _settle(group, renewed, rows)
    code.trap_label = before
    if not group.limit:
        return
    w.jump(done)
    w.place(trapped)
    lowest = w.emit(f"getelementptr i64, ptr {code.record}, i64 {RECORD_LOCAL}", "p")
    limit = w.emit(f"load i64, ptr {lowest}")
    w.do(f"store i64 {limit}, ptr {group.limit}")
    _settle(group, renewed, rows)
    # Nothing may be computed for the whole group from what thread 0 did not reach.
    w.branch(w.emit(f"icmp eq i64 {limit}, 0"), before, done)
    w.place(done)


def _renew(group: Group, body: d.Block, rows: int) -> None:
    """Give row-wide values that the region both reads and assigns a second place: every thread of the row runs the
    assignment, and each must start from the value before the region."""
    read, written = names_of(body)
    for name in sorted(read & written & group.kept.keys()):
        if group.levels.values.get(name, GROUP) != ROW:
            continue
        old = group.kept[name]
        size = max(group.crossing.kept[name].bits // 8, 1)
        pointer = work_array(group.frame, "", rows, size, "renewed")
        group.renewed[name] = replace(old, pointer=pointer)
        _copy_rows(group, pointer, old.pointer, name, rows)


def _settle(group: Group, renewed: Mapping[str, BufferRef], rows: int) -> None:
    """Where threads in front of one that trapped go on, they too find what they assigned."""
    for name, new in renewed.items():
        _copy_rows(group, group.kept[name].pointer, new.pointer, name, rows)


def _copy_rows(group: Group, to: str, source: str, name: str, rows: int) -> None:
    size = rows * max(group.crossing.kept[name].bits // 8, 1)
    group.lanes.w.declare("llvm.memcpy.p0.p0.i64", "void", ["ptr", "ptr", "i64", "i1"])
    group.lanes.w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {size}, i1 false)")


@dataclass(frozen=True, slots=True)
class Whole:
    """What all rows run where no lane of the group lies outside: `rows` and `lanes` bound them, alike for all."""

    body: d.Block
    rows: tuple[Bound, ...]
    lanes: tuple[Bound, ...]


@dataclass(frozen=True, slots=True)
class _Pace:
    """How many lanes of how many rows run statements at a time."""

    width: int
    lines: bool = False
    unrolled: int = 1
    together: int = 1
    #: Whether rows that run together run statement by statement.
    tiled: bool = False


@dataclass(frozen=True, slots=True)
class _Plan:
    """A region's statements, guards as bounds of the lanes, and an interior of each row that needs no tests."""

    body: d.Block
    split: Split
    interior: Interior | None
    pace: _Pace


def _plan(group: Group, body: d.Block) -> _Plan:
    facts = replace(group.facts, hidden=_hidden(group, body))
    split = Split((), (), body) if _keeps_lets(group, body) else split_guards(body, facts)
    interior = None if group.limit or split.single else find_interior(body, facts)
    inner = split.body if interior is None else interior.body
    return _Plan(body, split, interior, _Pace(1) if split.single else _pace(group, inner, 1))


def _hidden(group: Group, body: d.Block) -> frozenset[str]:
    """Names without a value before the region."""
    return names_of(body)[0] - group.lanes.env.keys() - group.lanes.slots.keys()


def _pace(group: Group, body: d.Block, together: int) -> _Pace:
    width, lines, strategy = group.strategy.width, False, group.strategy
    tile = tile_width(group, body) if together > 1 else 0
    if width > 1 and not strategy.fixed:
        width = tile or region_width(body, group.facts, strategy, group.row)
        lines = strategy.most > 0 and width > strategy.width and reads_lines(body, group.facts)
    unrolled = 8 if sum(1 for _ in every_statement(body)) <= _SMALL else 1
    return _Pace(width, lines, unrolled, together, tile > 0)


def _rows(group: Group, body: d.Block, rows: int) -> None:
    """Rows in turn; several at a time where they load the same elements."""
    plan = _plan(group, body)
    if rows == 1:
        _row(group, plan, "0")
        return
    whole = None if group.limit or plan.split.single else whole_of(group, body)
    if whole is None:
        counted(group.lanes.w, "0", str(rows), "1", lambda row: _row(group, plan, row))
        return
    together = TOGETHER if rows % TOGETHER == 0 and shares_loads(group, whole.body) else 1
    pace = _pace(group, whole.body, together)
    conditions = condition_of(group, whole)
    if not conditions:
        _whole_rows(group, whole.body, pace, rows)
        return
    one_of(
        group,
        conditions,
        lambda: _whole_rows(group, whole.body, pace, rows),
        lambda: counted(group.lanes.w, "0", str(rows), "1", lambda row: _row(group, plan, row)),
    )


def condition_of(group: Group, whole: Whole) -> list[str]:
    """What must hold for no thread of the group to lie outside; empty where nothing has to."""
    outside, rows = replace(group.lanes, env=dict(group.lanes.env)), group.threads // group.row
    fits = ((whole.rows, rows), (whole.lanes, group.row))
    return [_holds(outside, bounds, str(count)) for bounds, count in fits if bounds]


def whole_of(group: Group, body: d.Block) -> Whole | None:
    """The statements without what is known of all lanes of all rows, None where rows differ in what is known."""
    hidden = _hidden(group, body)
    found: list[tuple[Bound, ...]] = []
    for facts in (group.facts, group.row_facts):
        interior = None if facts is None else find_interior(body, replace(facts, hidden=hidden))
        body = body if interior is None else interior.body
        found.append(() if interior is None else interior.bounds)
    lanes, across = found
    parts = [part for bound in (*lanes, *across) for part in (bound.limit, bound.offset) if part is not None]
    if not all(group.facts.level(part) == GROUP for part in parts):
        return None
    return Whole(body, across, lanes)


def _whole_rows(group: Group, body: d.Block, pace: _Pace, rows: int) -> None:
    w = group.lanes.w

    def several(first: str) -> None:
        numbers = [first] + [w.emit(f"add nuw nsw i64 {first}, {step}") for step in range(1, pace.together)]
        side = [row_of(group, number) for number in numbers]
        if pace.tiled:

            def tile(lane: str, mask: str | None, width: int) -> None:
                run_side_by_side(group, body, side, Vector(lane, mask, width))

            lane_loop(group.frame.code, pace.width, "0", str(group.row), tile, pace.unrolled)
            return
        for row in side:
            _lanes(group, body, pace, row)

    counted(w, "0", str(rows), str(pace.together), several)


def _row(group: Group, plan: _Plan, number: str) -> None:
    w, row, hi = group.lanes.w, row_of(group, number), str(group.row)
    outside = replace(group.lanes, specials=row.specials, env=dict(group.lanes.env))
    if group.limit:
        left = w.emit(f"sub i64 {w.emit(f'load i64, ptr {group.limit}')}, {row.start}")
        hi = extreme(w, "smin", hi, left)

    def around(width: int, unrolled: int) -> None:
        bounds = bounded_range(outside, plan.split, "0", hi)
        threads = _threads(group, plan.split.body, row, lines=plan.pace.lines)
        lane_loop(group.frame.code, width, *bounds, threads, unrolled)

    if plan.interior is None:
        around(plan.pace.width, plan.pace.unrolled)
        return
    inner = plan.interior.body
    one_of(
        group,
        [_holds(outside, plan.interior.bounds, hi)],
        lambda: _lanes(group, inner, plan.pace, row),
        lambda: around(edge_width(plan.pace.width), 0),
    )


def _holds(outside: Lanes, bounds: tuple[Bound, ...], count: str) -> str:
    """Whether 0 .. `count` lie within all bounds."""
    low, high = bounded_range(outside, Split(bounds, (), ()), "0", count)
    low_fits, high_fits = outside.w.emit(f"icmp sle i64 {low}, 0"), outside.w.emit(f"icmp sge i64 {high}, {count}")
    return outside.w.emit(f"and i1 {low_fits}, {high_fits}")


def one_of(group: Group, conditions: Sequence[str], within: Callable[[], None], around: Callable[[], None]) -> None:
    """One where all conditions hold, the other elsewhere."""
    w = group.lanes.w
    interior, edge, done = w.block("interior"), w.block("edge"), w.block("row.end")
    w.branch(functools.reduce(lambda left, right: w.emit(f"and i1 {left}, {right}"), conditions), interior, edge)
    w.place(interior)
    within()
    w.jump(done)
    w.place(edge)
    around()
    w.place(done)


def _lanes(group: Group, body: d.Block, pace: _Pace, row: Row) -> None:
    """All lanes of a row."""
    threads = _threads(group, body, row, lines=pace.lines)
    lane_loop(group.frame.code, pace.width, "0", str(group.row), threads, pace.unrolled)


def _threads(group: Group, body: d.Block, row: Row, *, lines: bool) -> LaneBody:
    def run(first: str, mask: str | None, width: int) -> None:
        def version(slow: str) -> None:
            run_threads(group, body, row, Vector(first, mask, width, slow, lines))

        if width == 1 or mask is not None:
            version("")
        else:
            in_versions(group.lanes, body, version)

    return run


def with_prologue(group: Group, body: d.Block) -> d.Block:
    """The statements behind `Let`s of other regions that they compute again, in an order that defines before use."""
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
    return (*found.values(), *body)


def _keeps_lets(group: Group, body: d.Block) -> bool:
    """Whether other regions read a `Let` of this one: every thread must then run it, also those that a guard behind it
    leaves out."""
    lets = {s.name for s in body if isinstance(s, d.Let)}
    return not lets.isdisjoint(group.crossing.kept) or not lets.isdisjoint(group.levels.escaping)
