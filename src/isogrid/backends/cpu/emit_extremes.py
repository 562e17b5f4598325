"""Minima and maxima of a group in registers: the instruction that compares, and a look at what it gets wrong.

An extreme of the language is NaN if a value is, and +0 is greater than -0. `x > y ? x : y` is one instruction where
that takes five, and differs from it only if a value is NaN or the extreme is a zero. Both are looked for once for the
group; where one is found, the operation runs as usual (decision 0086).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from isogrid.backends.cpu.emit_counted import counted
from isogrid.backends.cpu.emit_group_regions import Whole, condition_of, one_of, whole_of, with_prologue
from isogrid.backends.cpu.emit_group_state import Group
from isogrid.backends.cpu.emit_group_threads import Row, Vector, names_of, row_of, run_threads
from isogrid.backends.cpu.emit_memory import evaluate
from isogrid.backends.cpu.emit_regions import operand_store
from isogrid.backends.cpu.emit_values import Lanes, vector
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.printers.llvm_text import Writer, element_type, literal_text, splat_text, type_text

#: Extremes side by side: the latency of one instruction times how many of them a cycle begins.
_SIDE_BY_SIDE: Final = 4
#: Times so many in a trip. Written out in full, LLVM moves all of it behind the branch on NaN, and the vectors wait in
#: memory meanwhile.
_IN_A_TRIP: Final = 2
_LEAST: Final = {"min": "olt", "max": "ogt"}


@dataclass(frozen=True, slots=True)
class _Extreme:
    """`type` of `width` lanes; variables that hold `most` extremes, and whether some value was NaN."""

    op: str
    type: Machine
    width: int
    most: tuple[str, ...]
    unordered: tuple[str, ...]


def emit_extreme(group: Group, body: d.Block, node: d.Collective, usual: Callable[[], None]) -> bool:
    """Emit a region, which ends with storing the operands of a minimum or maximum of floats, and the operation.

    `usual` emits both in the usual way. False where they would not gain by this or do more than arithmetic.
    """
    whole = _arithmetic(group, body, node)
    machine = element_type(node.scalar)
    width = group.strategy.native * 32 // machine.bits
    if whole is None or group.row % (_SIDE_BY_SIDE * width):
        return False
    w, done = group.lanes.w, group.lanes.w.block("extreme.end")
    usually = w.block("extreme.usual")
    text = type_text(machine, width)
    marks = f"<{width} x i{machine.bits}>"
    most = tuple(w.alloca(text, "most") for _ in range(_SIDE_BY_SIDE))
    unordered = tuple(w.alloca(marks, "unordered") for _ in range(_SIDE_BY_SIDE // 2))
    extreme = _Extreme(node.op, machine, width, most, unordered)

    def quick() -> None:
        for pointer in most:
            w.do(f"store {text} {_identity(extreme)}, ptr {pointer}")
        for pointer in unordered:
            w.do(f"store {marks} zeroinitializer, ptr {pointer}")
        _every_row(group, whole.body, node.value, extreme)
        value, wrong = _result(w, extreme)
        right = w.block("extreme.found")
        w.branch(wrong, usually, right)
        w.place(right)
        w.do(f"store {type_text(machine)} {value}, ptr {group.lanes.slots[node.target].pointer}")
        w.jump(done)

    conditions = condition_of(group, whole)
    one_of(group, conditions, quick, lambda: w.jump(usually)) if conditions else quick()
    w.place(usually)
    usual()
    w.place(done)
    return True


def _arithmetic(group: Group, body: d.Block, node: d.Collective) -> Whole | None:
    """The region without its store and without what holds for all threads, if it only reads and computes and leaves
    nothing but the operands."""
    wanted = node.op in _LEAST and node.scalar.is_float and node.scalar.bits >= 32
    if not wanted or group.limit or group.strategy.fixed or group.strategy.native == 1 or group.frame.code.dirty:
        return None
    if not body or body[-1] != operand_store(node) or node.target not in group.lanes.slots:
        return None
    whole = whole_of(group, with_prologue(group, body[:-1]))
    if whole is None or not all(isinstance(s, d.Let | d.Set) for s in whole.body):
        return None
    written = names_of(body)[1]
    return whole if written.isdisjoint(group.crossing.kept) and written.isdisjoint(group.levels.escaping) else None


def _every_row(group: Group, body: d.Block, value: d.Expr, extreme: _Extreme) -> None:
    w, rows = group.lanes.w, group.threads // group.row
    together = extreme.width * _SIDE_BY_SIDE
    step = together * (1 if group.row % (together * _IN_A_TRIP) else _IN_A_TRIP)

    def lanes_of(row: Row, first: str) -> None:
        for start in range(0, step, together):
            found = [
                _operand(group, body, value, row, _plus(w, first, start + number * extreme.width), extreme)
                for number in range(_SIDE_BY_SIDE)
            ]
            _take(w, extreme, found)

    def one(number: str) -> None:
        row = row_of(group, number)
        counted(w, "0", str(group.row), str(step), lambda first: lanes_of(row, first))

    if rows == 1:
        one("0")
    else:
        counted(w, "0", str(rows), "1", one)


def _plus(w: Writer, first: str, more: int) -> str:
    return w.emit(f"add nuw nsw i64 {first}, {more}") if more else first


def _operand(group: Group, body: d.Block, value: d.Expr, row: Row, first: str, extreme: _Extreme) -> str:
    found: list[str] = []

    def finish(lanes: Lanes) -> None:
        found.append(vector(lanes, evaluate(lanes, value)))

    run_threads(group, body, row, Vector(first, None, extreme.width), finish)
    return found[0]


def _take(w: Writer, extreme: _Extreme, found: list[str]) -> None:
    """Vectors side by side; a NaN in either of two vectors shows in one comparison of both."""
    text = type_text(extreme.type, extreme.width)
    for value, pointer in zip(found, extreme.most, strict=True):
        most = _further(w, extreme, w.emit(f"load {text}, ptr {pointer}"), value, extreme.width)
        w.do(f"store {text} {most}, ptr {pointer}")
    marks = f"<{extreme.width} x i{extreme.type.bits}>"
    for pointer, one, other in zip(extreme.unordered, found[::2], found[1::2], strict=True):
        tested = w.emit(f"fcmp uno {text} {one}, {other}")
        bits = w.emit(f"sext <{extreme.width} x i1> {tested} to {marks}")
        before = w.emit(f"load {marks}, ptr {pointer}")
        w.do(f"store {marks} {w.emit(f'or {marks} {before}, {bits}')}, ptr {pointer}")


def _further(w: Writer, extreme: _Extreme, one: str, other: str, width: int) -> str:
    text, truths = type_text(extreme.type, width), "i1" if width == 1 else f"<{width} x i1>"
    test = w.emit(f"fcmp {_LEAST[extreme.op]} {text} {one}, {other}")
    return w.emit(f"select {truths} {test}, {text} {one}, {text} {other}")


def _result(w: Writer, extreme: _Extreme) -> tuple[str, str]:
    """The extreme of all vectors and lanes, and whether it may be wrong."""
    width, text = extreme.width, type_text(extreme.type, extreme.width)
    values = [w.emit(f"load {text}, ptr {pointer}") for pointer in extreme.most]
    while len(values) > 1:
        values = [_further(w, extreme, a, b, width) for a, b in zip(values[::2], values[1::2], strict=True)]
    value, half = values[0], width
    while half > 1:
        half //= 2
        order = ", ".join(f"i32 {half + k}" if k < half else "i32 poison" for k in range(width))
        upper = w.emit(f"shufflevector {text} {value}, {text} poison, <{width} x i32> <{order}>")
        value = _further(w, extreme, value, upper, width)
    last = w.emit(f"extractelement {text} {value}, i64 0")
    marks = f"<{width} x i{extreme.type.bits}>"
    seen = [w.emit(f"load {marks}, ptr {pointer}") for pointer in extreme.unordered]
    some = w.emit(f"or {marks} {seen[0]}, {seen[1]}")
    lanes = w.emit(f"icmp ne {marks} {some}, zeroinitializer")
    unordered = w.emit(f"icmp ne i{width} {w.emit(f'bitcast <{width} x i1> {lanes} to i{width}')}, 0")
    zero = w.emit(f"fcmp oeq {type_text(extreme.type)} {last}, {literal_text(0, extreme.type)}")
    return last, w.emit(f"or i1 {unordered}, {zero}")


def _identity(extreme: _Extreme) -> str:
    """What every value goes beyond: an infinity."""
    exponent = 0x7F800000 if extreme.type is Machine.F32 else 0x7FF0000000000000
    sign = 1 << (extreme.type.bits - 1) if extreme.op == "max" else 0
    return splat_text(literal_text(exponent | sign, extreme.type), extreme.type, extreme.width)
