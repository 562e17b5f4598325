"""Group operations in the fixed pairing of the language: slots by linear thread index, slot[t] op slot[t + half] first.

Values go through shared memory once; then a lane of a warp holds slots t, t + 32, t + 64... and pairs those in
registers, and five shuffles finish the tree. Two halves of the scratch memory take turns, so that one barrier does.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from isogrid.analysis.meetings import Pending
from isogrid.backends.cuda.emit_code import (
    SHARED_POINTER,
    Code,
    apply,
    evaluate,
    read_variable,
    write_variable,
)
from isogrid.backends.cuda.emit_exchange import shuffle
from isogrid.backends.cuda.emit_sync import group_any, group_meeting, group_vote, plain_barrier
from isogrid.backends.cuda.emit_trap import record_trap
from isogrid.builtins.collectives import identity
from isogrid.ir import device as d
from isogrid.ir.types import Scalar
from isogrid.printers.llvm_text import element_type, literal_text, type_text

#: All warps take the last levels of a tree themselves up to this many slots a lane; above, one does for all.
_REDUNDANT = 8
#: Bytes of a slot: of a value as it is given, and of a prefix in the width that holds it exactly.
_RAW_BYTES = 8
_WIDE_BYTES = 16


@dataclass(frozen=True, slots=True)
class Unit:
    """Threads that combine their values: `index` is this thread's place among `size` (i32), `lane` its place in the
    hardware warp. `first` is their meeting after all have given a value, `again` a later one."""

    size: int
    index: str
    lane: str
    scratch: str
    first: Callable[[], None]
    again: Callable[[], None]


def scratch_bytes(size: int) -> int:
    """Shared memory that the operations of one unit need in each half: values and prefixes."""
    return size * (_RAW_BYTES + _WIDE_BYTES)


def emit_collective(code: Code, node: d.Collective) -> None:
    pending = code.meetings.pending(node)
    value = evaluate(code, node.value)
    if node.op in ("any", "all"):
        if pending.warp or pending.group or pending.total:
            group_meeting(code, pending)
        write_variable(code, node.target, group_vote(code, node.op, value))
        return
    unit = _group(code, replace(pending, total=False))
    result, fits = combined(code, unit, node, value)
    if fits:
        _leave_at_total(code, node, fits)
    if pending.total:
        group_meeting(code, Pending(total=True))
    write_variable(code, node.target, result)


def _group(code: Code, pending: Pending) -> Unit:
    w = code.w
    half = turn(code, "parity", scratch_bytes(code.threads))
    scratch = w.emit(
        f"getelementptr inbounds i8, {SHARED_POINTER} {code.buffers['scratch'].pointer}, i32 {half}", "scratch"
    )
    lane = w.emit(f"and i32 {code.local}, 31")
    return Unit(
        code.threads, code.local, lane, scratch, lambda: group_meeting(code, pending), lambda: plain_barrier(code)
    )


def turn(code: Code, name: str, size: int) -> str:
    """The byte offset of the half of a scratch buffer whose turn it is."""
    w, parity = code.w, code.variables[name]
    now = read_variable(code, parity)
    w.do(f"store i32 {w.emit(f'xor i32 {now}, 1')}, ptr {parity.pointer}")
    return w.emit(f"mul nuw i32 {now}, {size}")


def _leave_at_total(code: Code, node: d.Collective, fits: str) -> None:
    """The group leaves where a total is out of its type: thread 0 names a sum, the lowest such thread a scan."""
    assert node.total is not None
    w = code.w
    bad, mine, out, good = w.block("lost"), w.block("lost.mine"), w.block("lost.out"), w.block("fits")
    if node.op == "scan":
        w.branch(fits, good, bad)
        w.place(bad)
        record_trap(code, node.total, [])
        w.place(good)
        stay = w.block("all.fit")
        w.branch(group_any(code, w.emit(f"xor i1 {fits}, true")), out, stay)
        w.place(out)
        w.finish("ret void")
        w.place(stay)
        return
    w.branch(fits, good, bad)
    w.place(bad)
    w.branch(w.emit(f"icmp eq i32 {code.local}, 0"), mine, out)
    w.place(mine)
    record_trap(code, node.total, [])
    w.place(out)
    w.finish("ret void")
    w.place(good)


# --- the operation on any unit ----------------------------------------------------------------------------------------


def combined(code: Code, unit: Unit, node: d.Collective | d.WarpCollective, value: str) -> tuple[str, str]:
    """The result in every thread, and whether it is in its type ("" where that is sure)."""
    numbers = Numbers(code, node)
    if node.op == "scan":
        wide = _scan(code, unit, numbers, value, node.exclusive)
    else:
        wide = _reduce(code, unit, numbers, value)
    return numbers.narrowed(wide)


class Numbers:
    """How the values of one operation are spelt and combined: integers of a checked total in twice the width."""

    def __init__(self, code: Code, node: d.Collective | d.WarpCollective) -> None:
        self.code, self.node, self.scalar = code, node, node.scalar
        self.machine = element_type(node.scalar)
        self.raw = type_text(self.machine)
        self.widens = node.total is not None and node.op in ("sum", "scan") and node.scalar.is_integer
        self.wide = {32: "i64", 64: "i128"}[self.machine.bits] if self.widens else self.raw

    @property
    def any_order(self) -> bool:
        """Whether the result is the same in whatever order values are combined: integers wrap or are wide enough, and
        of a least or greatest value only the value can be seen."""
        return self.scalar.is_integer or self.node.op in ("min", "max")

    def widened(self, value: str) -> str:
        if not self.widens:
            return value
        extend = "sext" if self.scalar.is_signed else "zext"
        return self.code.w.emit(f"{extend} {self.raw} {value} to {self.wide}")

    def narrowed(self, value: str) -> tuple[str, str]:
        if not self.widens:
            return value, ""
        result = self.code.w.emit(f"trunc {self.wide} {value} to {self.raw}")
        return result, self.code.w.emit(f"icmp eq {self.wide} {self.widened(result)}, {value}")

    def both(self, a: str, b: str) -> str:
        """`a op b`."""
        if self.widens:
            return self.code.w.emit(f"add {self.wide} {a}, {b}")
        return apply(self.code, combiner(self.node.op, self.scalar), [a, b], self.machine, self.machine)

    def nothing(self) -> str:
        """What pads the slots: combining with it changes nothing."""
        if self.widens:
            return "0"
        found = identity("sum" if self.node.op == "scan" else self.node.op, self.scalar)
        return literal_text(_bits(self.scalar, found), self.machine)

    def zero(self) -> str:
        return "0" if self.widens else literal_text(0, self.machine)


def combiner(op: str, scalar: Scalar) -> str:
    """The device operation that combines two values."""
    if op in ("sum", "scan"):
        return "fadd" if scalar.is_float else "iadd"
    if scalar.is_float:
        return "f" + op
    return ("s" if scalar.is_signed else "u") + op


def _bits(scalar: Scalar, value: object) -> int:
    if scalar.is_float:
        return int.from_bytes(scalar.numpy.type(value).tobytes(), "little")
    assert isinstance(value, int)
    return value & ((1 << scalar.bits) - 1)


def _power(size: int) -> int:
    return 1 << (size - 1).bit_length()


def _reduce(code: Code, unit: Unit, numbers: Numbers, value: str) -> str:
    if unit.size <= 32:
        unit.first()
        return _within_warp(code, unit, numbers, numbers.widened(value))
    w = code.w
    put(code, unit, 0, numbers.raw, unit.index, value)
    unit.first()
    columns = _power(unit.size) // 32
    if unit.size % 32 == 0 and columns <= _REDUNDANT:
        return _column(code, unit, numbers, columns)
    work, done = w.block("one.warp"), w.block("all.warps")
    w.branch(w.emit(f"icmp ult i32 {unit.index}, 32"), work, done)
    w.place(work)
    result = _column(code, unit, numbers, columns)
    put(code, unit, unit.size * _RAW_BYTES, numbers.wide, "0", result)
    w.place(done)
    unit.again()
    return get(code, unit, unit.size * _RAW_BYTES, numbers.wide, "0")


def _column(code: Code, unit: Unit, numbers: Numbers, columns: int) -> str:
    """The whole tree in one warp: slots of a lane first, then the lanes."""
    w = code.w
    slots: list[str | None] = []
    for column in range(columns):
        if 32 * column >= unit.size:
            slots.append(None)
            continue
        index = w.emit(f"add nuw i32 {unit.lane}, {32 * column}")
        inside = "" if 32 * column + 32 <= unit.size else w.emit(f"icmp ult i32 {index}, {unit.size}")
        if inside:
            index = w.emit(f"select i1 {inside}, i32 {index}, i32 0")
        got = numbers.widened(get(code, unit, 0, numbers.raw, index))
        if inside:
            got = w.emit(f"select i1 {inside}, {numbers.wide} {got}, {numbers.wide} {numbers.nothing()}")
        slots.append(got)
    step = columns // 2
    while step:
        for at in range(step):
            low, high = slots[at], slots[at + step]
            slots[at] = low if high is None or low is None else numbers.both(low, high)
        step //= 2
    value = slots[0]
    assert value is not None
    for step in (16, 8, 4, 2, 1):
        value = numbers.both(value, shuffle(code, "bfly", "-1", value, numbers.wide, str(step)))
    return value


def _within_warp(code: Code, unit: Unit, numbers: Numbers, value: str) -> str:
    """A tree of at most 32 threads that stand in one hardware warp."""
    w, size = code.w, unit.size
    mask, text = _some_lanes(size), numbers.wide
    step = _power(size) // 2
    while step:
        if _power(size) == size:
            other = shuffle(code, "bfly", mask, value, text, str(step))
        else:
            above = w.emit(f"add nuw i32 {unit.lane}, {step}")
            inside = w.emit(f"icmp ult i32 {above}, {size}")
            other = shuffle(code, "idx", mask, value, text, w.emit(f"select i1 {inside}, i32 {above}, i32 0"))
            other = w.emit(f"select i1 {inside}, {text} {other}, {text} {numbers.nothing()}")
        value = numbers.both(value, other)
        step //= 2
    return value if _power(size) == size else shuffle(code, "idx", mask, value, text, "0")


def _some_lanes(size: int) -> str:
    """The mask of the first lanes of a warp."""
    return "-1" if size == 32 else str((1 << size) - 1)


# --- scans ------------------------------------------------------------------------------------------------------------


def _scan(code: Code, unit: Unit, numbers: Numbers, value: str, exclusive: bool) -> str:
    """Inclusive prefixes: v[t - d] op v[t] for d = 1, 2, 4...; exclusive shifts them by one thread."""
    if unit.size <= 32:
        unit.first()
        result = _scan_lanes(code, unit, numbers, numbers.widened(value))
    elif unit.size % 32 == 0 and numbers.any_order:
        result = _scan_exact(code, unit, numbers, value)
    elif unit.size % 32 == 0:
        result = _scan_warps(code, unit, numbers, value)
    else:
        result = _scan_slots(code, unit, numbers, value)
    if not exclusive:
        return result
    if numbers.scalar.is_integer:
        return code.w.emit(f"sub {numbers.wide} {result}, {numbers.widened(value)}")
    return _shifted(code, unit, numbers, result)


def _scan_lanes(code: Code, unit: Unit, numbers: Numbers, value: str) -> str:
    distance = 1
    while distance < unit.size:
        below = shuffle(code, "up", _some_lanes(unit.size), value, numbers.wide, str(distance))
        value = _from(code, unit.lane, distance, numbers, numbers.both(below, value), value)
        distance *= 2
    return value


def _from(code: Code, index: str, least: int, numbers: Numbers, there: str, else_: str) -> str:
    """`there` where `index` is at least `least`."""
    enough = code.w.emit(f"icmp uge i32 {index}, {least}")
    return code.w.emit(f"select i1 {enough}, {numbers.wide} {there}, {numbers.wide} {else_}")


def _scan_warps(code: Code, unit: Unit, numbers: Numbers, value: str) -> str:
    """Five levels in registers on this warp's slots and those of the warp before, then whole columns of slots."""
    w, text = code.w, numbers.wide
    put(code, unit, 0, numbers.raw, unit.index, value)
    unit.first()
    before = numbers.widened(get(code, unit, 0, numbers.raw, _below(code, unit, 32)))
    value = numbers.widened(value)
    for distance in (1, 2, 4, 8, 16):
        source = w.emit(f"and i32 {w.emit(f'sub i32 {unit.lane}, {distance}')}, 31")
        own = shuffle(code, "idx", "-1", value, text, source)
        far = shuffle(code, "idx", "-1", before, text, source)
        below = _from(code, unit.lane, distance, numbers, own, far)
        value = _from(code, unit.index, distance, numbers, numbers.both(below, value), value)
        before = _from(code, unit.lane, distance, numbers, numbers.both(far, before), before)
    offset = unit.size * _RAW_BYTES
    put(code, unit, offset, text, unit.index, value)
    unit.again()
    columns = _power(unit.size) // 32
    slots = [value]
    for column in range(1, columns):
        slots.append(get(code, unit, offset, text, _below(code, unit, 32 * column)))
    step = 1
    while step < columns:
        for at in range(0, columns, 2 * step):
            # The slot `at` columns down reaches `step` columns further where there are so many.
            paired = numbers.both(slots[at + step], slots[at])
            slots[at] = _from(code, unit.index, 32 * (at + step), numbers, paired, slots[at])
        step *= 2
    return slots[0]


def _scan_exact(code: Code, unit: Unit, numbers: Numbers, value: str) -> str:
    """Every warp on its own, then what the warps before it come to. Lanes that may have trapped must have met before
    the others wait for them in a shuffle."""
    w, text, count = code.w, numbers.wide, unit.size // 32
    if code.lanes_part:
        unit.first()
    own = numbers.widened(value)
    for distance in (1, 2, 4, 8, 16):
        below = shuffle(code, "up", "-1", own, text, str(distance))
        own = _from(code, unit.lane, distance, numbers, numbers.both(below, own), own)
    warp, offset = w.emit(f"lshr i32 {unit.index}, 5"), unit.size * _RAW_BYTES
    last, met = w.block("last.lane"), w.block("warps")
    w.branch(w.emit(f"icmp eq i32 {unit.lane}, 31"), last, met)
    w.place(last)
    put(code, unit, offset, text, warp, own)
    w.place(met)
    (unit.again if code.lanes_part else unit.first)()
    there = w.emit(f"icmp ult i32 {unit.lane}, {count}")
    total = get(code, unit, offset, text, w.emit(f"select i1 {there}, i32 {unit.lane}, i32 0"))
    distance = 1
    while distance < count:
        below = shuffle(code, "up", "-1", total, text, str(distance))
        total = _from(code, unit.lane, distance, numbers, numbers.both(below, total), total)
        distance *= 2
    before = shuffle(code, "idx", "-1", total, text, w.emit(f"and i32 {w.emit(f'sub i32 {warp}, 1')}, 31"))
    return _from(code, warp, 1, numbers, numbers.both(before, own), own)


def _below(code: Code, unit: Unit, distance: int) -> str:
    """The slot `distance` below, or slot 0 where there is none."""
    w = code.w
    enough = w.emit(f"icmp uge i32 {unit.index}, {distance}")
    return w.emit(f"select i1 {enough}, i32 {w.emit(f'sub i32 {unit.index}, {distance}')}, i32 0")


def _scan_slots(code: Code, unit: Unit, numbers: Numbers, value: str) -> str:
    """A group that is no whole number of warps: every level through memory, in two arrays by turns."""
    first, text, distance = unit.first, numbers.wide, 1
    value = numbers.widened(value)
    while distance < unit.size:
        put(code, unit, unit.size * _RAW_BYTES, text, unit.index, value)
        first()
        below = get(code, unit, unit.size * _RAW_BYTES, text, _below(code, unit, distance))
        value = _from(code, unit.index, distance, numbers, numbers.both(below, value), value)
        unit.again()
        first, distance = unit.again, 2 * distance
    return value


def _shifted(code: Code, unit: Unit, numbers: Numbers, value: str) -> str:
    """The value of the thread below; thread 0 gets zero."""
    if unit.size <= 32:
        below = shuffle(code, "up", _some_lanes(unit.size), value, numbers.wide, "1")
    else:
        put(code, unit, 0, numbers.raw, unit.index, value)
        unit.again()
        below = get(code, unit, 0, numbers.raw, _below(code, unit, 1))
    return _from(code, unit.index, 1, numbers, below, numbers.zero())


# --- scratch memory ---------------------------------------------------------------------------------------------------


def _slot(code: Code, unit: Unit, offset: int, text: str, index: str) -> str:
    base = code.w.emit(f"getelementptr inbounds i8, {SHARED_POINTER} {unit.scratch}, i32 {offset}", "p")
    return code.w.emit(f"getelementptr inbounds {text}, {SHARED_POINTER} {base}, i32 {index}", "p")


def put(code: Code, unit: Unit, offset: int, text: str, index: str, value: str) -> None:
    at = _slot(code, unit, offset, text, index)
    code.w.do(f"store {text} {value}, {SHARED_POINTER} {at}, align {_aligned(text)}")


def get(code: Code, unit: Unit, offset: int, text: str, index: str) -> str:
    return code.w.emit(
        f"load {text}, {SHARED_POINTER} {_slot(code, unit, offset, text, index)}, align {_aligned(text)}"
    )


def _aligned(text: str) -> int:
    return {"i8": 1, "i16": 2, "i32": 4, "float": 4, "i64": 8, "double": 8, "i128": 8}[text]
