"""How lanes are run: LLVM's vectoriser on a scalar loop, explicit vectors with masks, or scalar lanes.

Measured rules: streams of adjacent elements are best left to the vectoriser; loops and divergence need explicit
vectors, several registers wide where a chain of operations waits for itself; atomics are best done lane by lane.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, assert_never

from isogrid.backends.cpu.emit_guards import LaneFacts, split_guards
from isogrid.backends.cpu.emit_interior import find_interior
from isogrid.backends.cpu.emit_levels import LANE, expressions_of, find_levels
from isogrid.backends.cpu.emit_pressure import most_alive
from isogrid.backends.cpu.emit_regions import every_statement, group_constructs
from isogrid.backends.cpu.table_rows import fits_permutes, rows_of
from isogrid.backends.cpu.target import HostTarget
from isogrid.ir import device as d
from isogrid.ir.types import Space
from isogrid.ir.walk import visit, visit_exprs

#: How much more often the body of a loop is taken to run than what is around it.
_LOOP_WEIGHT = 16
#: Statements of a body that is worth writing with four registers for each value.
_SMALL = 40
#: The part of a loop's operations that are upper halves of products where eight registers for each value pay, as long
#: as few values are alive: such products wait for each other, and there is little else to do meanwhile (decision 0068).
_HALVES = 8
_FEW_ALIVE = 8
#: Elements of 32 bits in a register of processors that look ahead over some 128 operations: elementary functions in f64
#: have chains as long, and eight lanes keep two of them going. Sixteen would be faster by 10 or 20 in 100, but take
#: twice as long to compile.
_EIGHT = 8
#: Lanes at the edges of such loops.
_EDGE = 32


@dataclass(frozen=True, slots=True)
class Strategy:
    width: int
    pipeline: Literal["vectorise", "plain"]
    reason: str
    #: Whether every region has just this many lanes.
    fixed: bool = False
    #: Lanes at a time where whole cache lines are written, 0 where the target gains nothing by that.
    lines: int = 0
    #: Lanes of a region that holds one value and reads arrays: half of the registers. 0 where that was not measured.
    most: int = 0
    #: Vector registers, where each region chooses how many a value takes. 0 where one number holds for the kernel.
    registers: int = 0
    #: Elements of 32 bits in one of them.
    native: int = 1
    #: Lanes of the vectors that run what is left of a row before masks do, 0 where masks cost nothing.
    narrower: int = 0
    #: Whether every other vector of a row runs first, since a vector loads what lies beside the one before it.
    skips: bool = False


@dataclass(slots=True)
class _Counts:
    """Weighted counts of a body; `strides` has the stride of each name (None: varying, not affine)."""

    facts: LaneFacts
    strides: dict[str, int | None]
    #: Tables that are read without a gather.
    registers: frozenset[str] = frozenset()
    narrow: int = 0
    wide: int = 0
    #: Those of the narrow ones that are truths, which have registers of their own kind.
    truths: int = 0
    picks: int = 0
    gathers: int = 0
    byte_gathers: int = 0
    spaced: int = 0
    quotients: int = 0
    halves: int = 0
    adjacent: int = 0
    atomics: int = 0
    checks: int = 0
    branches: int = 0
    loops: int = 0
    waits: int = 0
    memory_in_waits: int = 0


def choose_strategy(kernel: d.Kernel, target: HostTarget, forced: int | None) -> Strategy:
    """The strategy for all lane loops of a kernel. `forced` lanes are for tests."""
    block = kernel.geometry.block
    row = lane_row(block) if kernel.grouped else 1 << 30
    if forced is not None:
        width = min(forced, _power_above(row))
        return Strategy(width, "plain", "as asked", fixed=True, lines=width if target.streams_lines else 0)
    counts = _counts(kernel, target)
    if counts.atomics * 4 > counts.narrow + counts.wide and not kernel.grouped:
        return Strategy(1, "plain", "scalar lanes for atomics")
    slow_gathers = counts.gathers if target.cpu.startswith("znver") else counts.byte_gathers
    # Indices of groups by quotients are adjacent in most vectors, in which quotients are tried as whole ones.
    whole = kernel.grouped and counts.quotients > 0
    if slow_gathers and slow_gathers * 4 >= counts.narrow + counts.wide and not whole:
        return Strategy(1, "plain", "scalar lanes for gathers")
    # LLVM 22 drops the shift of a vectorised `(a * b) >> 32` whose operands it knows to be narrow (decision 0056).
    halves = any(isinstance(node, d.Op) and node.op in ("smulhi", "umulhi") for node in visit(kernel.body))
    streams = not (halves or _reads_elsewhere(kernel.body)) and not (
        counts.loops
        or counts.checks
        or counts.branches
        or counts.picks
        or counts.gathers
        or counts.spaced
        or counts.atomics
    )
    # Regions of a grouped kernel choose between full and half vectors each for itself.
    bits = 64 if counts.wide > 4 * counts.narrow and not kernel.grouped else 32
    width = target.vector_bits // bits
    if not counts.gathers and not counts.quotients:
        twice = bits == 32 and counts.wide > 4 * (counts.narrow - counts.truths)
        width *= max(_registers_each(counts, kernel, target) // (2 if twice else 1), 1)
    if bits == 64 and kernel.exact and target.table_lanes == _EIGHT and not counts.loops:
        width = max(width, _EIGHT)
    width = min(width, _power_above(row))
    lines = width if target.streams_lines else 0
    if streams and not kernel.grouped:
        return Strategy(1, "vectorise", "a scalar loop for the vectoriser", lines=lines)
    if target.permutes or not kernel.grouped:
        most = target.f32_lanes * target.vector_registers // 2 if target.permutes else 0
        narrower = 0 if target.has_masks else min(target.vector_bits // bits, width)
        skips = not target.has_masks and _reads_beside(kernel.body)
        return Strategy(width, "plain", "explicit vectors", lines=lines, most=most, narrower=narrower, skips=skips)
    registers, native = target.vector_registers, target.f32_lanes
    return Strategy(width, "plain", "explicit vectors", lines=lines, registers=registers, native=native)


def _reads_elsewhere(body: d.Block) -> bool:
    """Whether some array is loaded at other places than it is stored to: the vectoriser tests whether lanes meet there,
    which the race proof has excluded, and its test finds that they may where rows lie close."""
    nodes = list(visit(body))
    stored: dict[str, set[d.Expr]] = {}
    for node in nodes:
        if isinstance(node, d.Store):
            stored.setdefault(node.buffer, set()).add(node.index)
    loads = (node for node in nodes if isinstance(node, d.Load) and node.buffer in stored)
    return any(stored[load.buffer] != {load.index} for load in loads)


def _reads_beside(body: d.Block) -> bool:
    """Whether a thread loads an element of an array that lies next to the one it stores, so that the next vector's load
    overlaps a store which is not done yet: it would wait for it, and each vector for the one before."""
    nodes = list(visit(body))
    stored = {(node.buffer, _without_offset(node.index)): node.index for node in nodes if isinstance(node, d.Store)}
    loads = (node for node in nodes if isinstance(node, d.Load))
    places = ((load.index, stored.get((load.buffer, _without_offset(load.index)))) for load in loads)
    return any(place is not None and place != index for index, place in places)


def _without_offset(node: d.Expr) -> d.Expr:
    """The index without a constant that is added to its last part."""
    match node:
        case d.Op("iadd" | "isub", (left, d.Literal())):
            return _without_offset(left)
        case d.Op("iadd", (left, right)):
            return d.Op("iadd", (left, _without_offset(right)), node.type)
        case _:
            return node


def _registers_each(counts: _Counts, kernel: d.Kernel, target: HostTarget) -> int:
    """Registers for each lane value of a kernel."""
    alive = most_alive(kernel.body, counts.facts)
    chained = counts.loops > 0 and counts.halves * _HALVES >= counts.narrow + counts.wide
    if target.permutes and chained and alive <= _FEW_ALIVE:
        return 8
    return _registers_for(counts, kernel.body, alive, target.vector_registers)


def _registers_for(counts: _Counts, body: d.Block, alive: int, registers: int) -> int:
    """Registers for each lane value: several hide latencies and share what is done once per vector, if all fit."""
    room = registers * 5 // 8
    if counts.waits and not counts.memory_in_waits:
        room = registers * 7 // 8
    small = sum(1 for _ in every_statement(body)) <= _SMALL
    if small and alive * 4 <= room:
        return 4
    return 2 if alive * 2 <= room else 1


def _own_width(counts: _Counts, body: d.Block, strategy: Strategy, row: int) -> int:
    """Lanes for a region that chooses by itself: values that differ by a constant from lane to lane take no vector."""
    each = 1
    if not counts.gathers and not counts.quotients:
        affine = frozenset(name for name, stride in counts.strides.items() if stride is not None)
        alive = most_alive(body, counts.facts, affine)
        each = max(_registers_for(counts, body, alive, strategy.registers), 1)
    return min(strategy.native * each, _power_above(row))


def region_width(body: d.Block, facts: LaneFacts, strategy: Strategy, row: int) -> int:
    """Lanes for one region of a grouped kernel: half where it mostly computes 64-bit values, one for atomics, and as
    many as there are where that makes it read memory in order (decision 0053)."""
    widest = strategy.width
    counts = _Counts(facts, {})
    _count(counts, body, 1, False)
    if counts.atomics * 4 > counts.narrow + counts.wide:
        return 1
    if strategy.registers and widest > 1:
        widest = _own_width(counts, body, strategy, row)
    if counts.wide > 4 * counts.narrow and widest > 1:
        return max(widest // 2, 1)
    most = min(strategy.most, _power_above(row))
    if most > widest > 1 and row % most == 0 and not counts.wide and _sums_rows(body, facts):
        return most
    return widest


def reads_lines(body: d.Block, facts: LaneFacts) -> bool:
    """Whether a region of that many lanes reads two arrays or more: of one, the first cache's accesses suffice."""
    arrays = {load.buffer for load in _loads(body) if facts.level(load) == LANE}
    return sum(facts.spaces[name] is Space.GLOBAL for name in arrays) > 1


def _sums_rows(body: d.Block, facts: LaneFacts) -> bool:
    """Whether a region takes several adjacent elements of arrays in turn, and holds one value for each lane meanwhile.

    A whole group in registers reads one row of the array after the other; fewer lanes go back and forth between rows.
    """
    if len(body) > _SMALL or not all(isinstance(node, d.Let | d.Set | d.Store) for node in body):
        return False
    loads = _loads(body)
    # What a group operation leaves behind has no space of its own.
    if not all(load.buffer in facts.spaces for load in loads):
        return False
    values = (e for node in body for whole in expressions_of(node) for e in visit_exprs(whole))
    read = Counter(e.name for e in values if isinstance(e, d.Value))
    counts, held = _Counts(facts, {}), set[str]()
    for node in body:
        if isinstance(node, d.Let):
            counts.strides[node.name] = stride_of(counts, node.value)
            if counts.strides[node.name] is None and read[node.name] > 1:
                held.add(node.name)
        elif isinstance(node, d.Set) and facts.level(node.value) == LANE:
            held.add(node.name)
    apart = [load for load in loads if facts.level(load) == LANE]
    arrays = [load for load in apart if facts.spaces[load.buffer] is Space.GLOBAL]
    return len(held) == 1 and len(arrays) > 1 and all(stride_of(counts, load.index) == 1 for load in apart)


def _loads(body: d.Block) -> list[d.Load]:
    whole = (e for node in body for expression in expressions_of(node) for e in visit_exprs(expression))
    return [e for e in whole if isinstance(e, d.Load)]


def edge_width(width: int) -> int:
    """Lanes for the groups at an edge, where `width` others run: few groups do, and wide code compiles long."""
    return _EDGE if width > 2 * _EDGE else width


def lane_axis_of(block: tuple[int, ...]) -> int:
    """The last axis with more than one thread: adjacent threads are adjacent lanes."""
    return max((a for a, extent in enumerate(block) if extent > 1), default=len(block) - 1)


def lane_row(block: tuple[int, ...]) -> int:
    return block[lane_axis_of(block)]


def _power_above(count: int) -> int:
    return 1 << max(count - 1, 0).bit_length()


def _counts(kernel: d.Kernel, target: HostTarget) -> _Counts:
    axis = lane_axis_of(kernel.geometry.block) if kernel.grouped else kernel.geometry.rank - 1
    levels = find_levels(kernel, axis, group_constructs(kernel.body))
    facts = LaneFacts(levels, {b.name: b.space for b in kernel.buffers}, axis, kernel.grouped)
    small = (b.name for b in kernel.buffers if fits_permutes(b.space, b.element.bits, b.count, target))
    beside = (table.name for rows in rows_of(kernel, target) for table in rows.tables)
    counts = _Counts(facts, {}, frozenset((*small, *beside)))
    body = kernel.body if kernel.grouped else split_guards(kernel.body, facts).body
    interior = find_interior(body, facts)
    body = body if interior is None else interior.body
    _count(counts, body, 1, False)
    return counts


def _count(counts: _Counts, body: d.Block, weight: int, waiting: bool) -> None:
    for node in body:
        for expression in expressions_of(node):
            _expression(counts, expression, weight, waiting)
        match node:
            case d.Let():
                counts.strides[node.name] = stride_of(counts, node.value)
            case d.Store():
                _access(counts, node.buffer, node.index, node.value.type.bits, weight, waiting)
            case d.Atomic():
                counts.atomics += (
                    0 if node.buffer in counts.facts.sums and stride_of(counts, node.index) == 1 else weight
                )
            case d.Check():
                counts.checks += weight if counts.facts.level(node.ok) == LANE else 0
            case d.If():
                counts.branches += weight if counts.facts.level(node.condition) == LANE else 0
                if node.rare:
                    continue
                _count(counts, node.then, weight, waiting)
                _count(counts, node.otherwise, weight, waiting)
            case d.For():
                counts.loops += 1
                start, step = stride_of(counts, node.start), stride_of(counts, node.step)
                counts.strides[node.counter] = start if step == 0 else None
                apart = counts.facts.level(node.trips) == LANE
                counts.waits += apart
                _count(counts, node.body, weight * _LOOP_WEIGHT, waiting or apart)
            case d.Loop():
                counts.loops += 1
                apart = counts.facts.levels.divergent.get(id(node), False)
                counts.waits += apart
                _count(counts, node.body, weight * _LOOP_WEIGHT, waiting or apart)
            case d.Scope():
                _count(counts, node.body, weight, waiting)
            case _:
                continue


def _expression(counts: _Counts, node: d.Expr, weight: int, waiting: bool) -> None:
    match node:
        case d.Op():
            for argument in node.arguments:
                _expression(counts, argument, weight, waiting)
            if _is_quotient(counts, node):
                counts.quotients += weight
            if stride_of(counts, node) is None:
                counts.halves += weight if node.op in ("smulhi", "umulhi") and node.type.bits == 32 else 0
                if node.type.bits == 64:
                    counts.wide += weight
                else:
                    counts.narrow += weight
                    counts.truths += weight if node.type.bits == 1 else 0
        case d.Load():
            _expression(counts, node.index, weight, waiting)
            _access(counts, node.buffer, node.index, node.type.bits, weight, waiting)
        case d.Literal() | d.Value() | d.Argument() | d.Special():
            return
        case _:
            assert_never(node)


def _is_quotient(counts: _Counts, node: d.Op) -> bool:
    """Whether a division gives the same quotient in whole narrow vectors but seldom in wide ones."""
    if node.op not in ("udiv", "urem", "lshr", "iand") or stride_of(counts, node.arguments[0]) != 1:
        return False
    second = node.arguments[1]
    if not isinstance(second, d.Literal):
        return node.op in ("udiv", "urem")
    divisor = {"lshr": 1 << min(second.bits, 63), "iand": second.bits + 1}.get(node.op, second.bits)
    return divisor >= _LOOP_WEIGHT


def _access(counts: _Counts, buffer: str, index: d.Expr, bits: int, weight: int, waiting: bool) -> None:
    stride = stride_of(counts, index)
    if stride is None and buffer in counts.registers:
        counts.narrow += weight
        counts.picks += weight
    elif stride == 1:
        counts.adjacent += weight
    elif stride in (2, 3, 4):
        counts.spaced += weight
    elif stride != 0 and counts.facts.spaces.get(buffer) is not Space.LOCAL:
        counts.gathers += weight
        counts.byte_gathers += weight if bits < 32 else 0
    if stride != 0 and waiting:
        counts.memory_in_waits += weight


def is_adjacent(node: d.Expr, facts: LaneFacts) -> bool:
    """Whether neighbouring lanes have neighbouring values, as far as an expression without names tells."""
    return stride_of(_Counts(facts, {}), node) == 1


def stride_of(counts: _Counts, node: d.Expr) -> int | None:
    """Difference between neighbouring lanes, None where it is not constant."""
    match node:
        case d.Literal() | d.Argument():
            return 0
        case d.Special():
            own = node.kind in ("thread", "local") and node.axis == counts.facts.lane_axis
            return 1 if own else 0
        case d.Value():
            if node.name in counts.strides:
                return counts.strides[node.name]
            return None if counts.facts.levels.values.get(node.name, 0) == LANE else 0
        case d.Load():
            return 0 if stride_of(counts, node.index) == 0 else None
        case d.Op():
            return _stride(node, [stride_of(counts, a) for a in node.arguments])
        case _:
            assert_never(node)


def strides_of(body: d.Block, facts: LaneFacts) -> dict[str, int | None]:
    """What the `Let`s of straight-line code differ by from lane to lane."""
    counts = _Counts(facts, {})
    _count(counts, body, 1, False)
    return counts.strides


_LINEAR: dict[str, Callable[[int, int], int]] = {"iadd": lambda a, b: a + b, "isub": lambda a, b: a - b}


def _stride(node: d.Op, strides: list[int | None]) -> int | None:
    if all(s == 0 for s in strides):
        return 0
    known = [s for s in strides if s is not None]
    if len(known) < len(strides):
        return None
    if node.op in _LINEAR:
        return _LINEAR[node.op](known[0], known[1])
    if node.op in ("imul", "shl"):
        factor = node.arguments[1] if strides[1] == 0 else node.arguments[0]
        if isinstance(factor, d.Literal) and factor.bits < 1 << 31:
            return max(known, key=abs) * (1 << factor.bits if node.op == "shl" else factor.bits)
    return known[0] if node.op == "trunc" else None
