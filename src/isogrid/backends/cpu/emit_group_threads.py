"""Vectors of threads of a group: what a thread keeps between regions comes in, statements run, what they assigned goes
out."""

from collections.abc import Callable
from dataclasses import dataclass

from isogrid.backends.cpu.emit_frame import variable_slots
from isogrid.backends.cpu.emit_group_state import Group
from isogrid.backends.cpu.emit_lanes import emit_block, emit_thread, zeroed_slots
from isogrid.backends.cpu.emit_levels import GROUP, LANE, ROW, expressions_of, names_in
from isogrid.backends.cpu.emit_memory import load, store
from isogrid.backends.cpu.emit_regions import every_statement
from isogrid.backends.cpu.emit_values import Lanes, Slot, Val, read_slot, write_slot
from isogrid.ir import device as d
from isogrid.ir.device import Machine


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a group: its number, the linear id of its first thread, and the coordinates that its threads share."""

    number: str
    start: str
    specials: dict[tuple[str, int], Val]


@dataclass(frozen=True, slots=True)
class Vector:
    """Threads of a row from lane `first` on: `width` of them, those off that `mask` says."""

    first: str
    mask: str | None
    width: int
    #: Where to go when an assumption about all lanes fails: see `Lanes`.
    slow: str = ""
    #: Whether adjacent elements are loaded as whole cache lines.
    lines: bool = False


def row_of(group: Group, number: str) -> Row:
    """The row with this number, in linear order."""
    w, specials = group.lanes.w, dict(group.lanes.specials)
    rest = number
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
    start = "0" if number == "0" else w.emit(f"mul nsw i64 {number}, {group.row}")
    return Row(number, start, specials)


def run_threads(
    group: Group, body: d.Block, row: Row, vector: Vector, finish: Callable[[Lanes], None] | None = None
) -> None:
    """One vector of threads of a region; `finish` may look at what they have in the end."""
    read, written = names_of(body)
    lanes, slots = _enter(group, row, vector, read, written)
    lanes.mask, lanes.slow, lanes.lines = vector.mask, vector.slow, vector.lines
    emit_thread(lanes, body)
    if finish is not None:
        finish(lanes)
    lanes.mask, lanes.slow, lanes.lines = None, "", False
    _leave(group, row, lanes, slots, written)


def run_side_by_side(group: Group, body: d.Block, rows: list[Row], vector: Vector) -> None:
    """Vectors of several rows at once: each statement, without control flow, for all of them before the next one."""
    read, written = names_of(body)
    entered = [_enter(group, row, vector, read, written) for row in rows]
    for node in body:
        for lanes, _ in entered:
            emit_block(lanes, (node,))
    for row, (lanes, slots) in zip(rows, entered, strict=True):
        _leave(group, row, lanes, slots, written)


def _enter(
    group: Group, row: Row, vector: Vector, read: frozenset[str], written: frozenset[str]
) -> tuple[Lanes, dict[str, Slot]]:
    w, width, axis = group.lanes.w, vector.width, group.axis
    stride = 0 if width == 1 else 1
    here = dict(row.specials)
    here[("local", axis)] = Val(Machine.I64, vector.first, stride)
    base = w.emit(f"add nsw i64 {here[('first', axis)].text}, {vector.first}")
    here[("thread", axis)] = Val(Machine.I64, base, stride)
    linear = vector.first if row.start == "0" else w.emit(f"add nsw i64 {row.start}, {vector.first}")
    here[("linear", 0)] = Val(Machine.I64, linear, stride)
    here[("record", 0)] = Val(Machine.I64, group.linear)
    here[("record", 1)] = Val(Machine.I64, linear)
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
    return lanes, slots


def _leave(group: Group, row: Row, lanes: Lanes, slots: dict[str, Slot], written: frozenset[str]) -> None:
    for name in sorted(written & group.crossing.kept.keys()):
        value = read_slot(lanes, slots[name]) if name in slots else lanes.env[name]
        place = group.renewed.get(name, group.kept[name])
        store(lanes, place, _kept_place(group, lanes, name, row), value)


def _kept_place(group: Group, lanes: Lanes, name: str, row: Row) -> Val:
    if group.levels.values.get(name, GROUP) == ROW:
        return Val(Machine.I64, row.number)
    return lanes.thread


def _kept(group: Group, lanes: Lanes, name: str, row: Row) -> Val:
    return load(lanes, group.kept[name], _kept_place(group, lanes, name, row), group.crossing.kept[name])


def names_of(body: d.Block) -> tuple[frozenset[str], frozenset[str]]:
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
