"""Code of loops in stages at a distance (`emit_stages`): what one stage leaves to another waits in rings of memory.

Quotients and estimates of roots take half a register at a time, which costs fewer slots of the ports than a whole one
(decision 0055 names them), and halves are loaded and stored, which costs none. The first trips run the later stages
on what the rings happen to hold, and the variables begin behind them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from isogrid.backends.cpu.emit_exact import finish_root
from isogrid.backends.cpu.emit_levels import names_in
from isogrid.backends.cpu.emit_memory import evaluate
from isogrid.backends.cpu.emit_pieces import PIECE, lane_numbers
from isogrid.backends.cpu.emit_stages import (
    ENTRIES,
    MOST_KEPT,
    TOGETHER,
    Stages,
    Step,
    estimate_of,
    is_root,
    plan_stages,
)
from isogrid.backends.cpu.emit_values import Lanes, Val, apply, splat, vector, write_slot
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.printers.llvm_text import splat_text, type_text

_HALF: Final = PIECE // 2
_FLOATS: Final = type_text(Machine.F32, PIECE)
_HALVES: Final = type_text(Machine.F32, _HALF)
_BYTES: Final = 4 * PIECE
#: No address but one that begins a ring, a page behind the ring before, is in all of them.
_RING: Final = f"[{ENTRIES * PIECE} x float]"


def stages_here(lanes: Lanes, node: d.For) -> Stages | None:
    """How the loop runs in stages, None where it cannot."""
    rounds = lanes.code.overlapped.get(node.counter)
    if rounds is None or not rounds.staged or lanes.width != PIECE or lanes.last:
        return None
    if any(s.name in lanes.slots for s in node.body if isinstance(s, d.Let)):
        return None
    return plan_stages(node.body, node.counter)


@dataclass(frozen=True, slots=True)
class _Loop:
    """What all steps of a loop share: its start, step and trips, and the rings."""

    node: d.For
    start: Val
    step: Val
    trips: Val
    rings: dict[str, str]


def emit_staged(lanes: Lanes, node: d.For, stages: Stages, bounds: tuple[Val, Val, Val]) -> None:
    """All trips of a loop of many trips, whose start, step and trips are `bounds`.

    The first and the last trips run the loop that looks where the trips of its steps are, and all between them another.
    """
    w = lanes.w
    start, step, trips = bounds
    loop = _Loop(node, start, step, trips, _rings(lanes, stages))
    slots = {s.name: lanes.slots[s.name] for s in node.body if isinstance(s, d.Set)}
    first = {name: w.emit(f"load {_slot_type(lanes, name)}, ptr {slot.pointer}") for name, slot in slots.items()}
    longest = str(stages.longest)
    whole = w.emit(f"add i64 {trips.text}, {longest}")
    now, end = w.alloca("i64", "now"), w.alloca("i64", "end")
    w.do(f"store i64 0, ptr {now}")
    w.do(f"store i64 {longest}, ptr {end}")
    outer, edge, behind, begin, middle, exit = (
        w.block(stem) for stem in ("outer", "edge", "edge.end", "begin", "staged", "staged.end")
    )
    w.place(outer)
    until = w.emit(f"load i64, ptr {end}")
    _loop(lanes, loop, stages, now, (edge, behind), until, together=1)
    w.branch(w.emit(f"icmp eq i64 {until}, {longest}"), begin, exit)
    w.place(begin)
    for name, slot in slots.items():
        w.do(f"store {_slot_type(lanes, name)} {first[name]}, ptr {slot.pointer}")
    again = w.block("staged.last")
    even = w.emit(f"and i64 {trips.text}, {-TOGETHER}")
    _loop(lanes, loop, stages, now, (middle, again), even, together=TOGETHER)
    w.do(f"store i64 {whole}, ptr {end}")
    w.jump(outer)
    w.place(exit)


def _loop(
    lanes: Lanes, loop: _Loop, stages: Stages, now: str, labels: tuple[str, str], until: str, together: int
) -> None:
    """Trips from `now` to `until`, so many at a time."""
    w = lanes.w
    w.place(labels[0])
    trip = w.emit(f"load i64, ptr {now}")
    for number in range(together):
        for step in stages.steps:
            _step(lanes, loop, stages, step, (trip, number), ends=together == 1)
    next = w.emit(f"add nuw i64 {trip}, {together}")
    w.do(f"store i64 {next}, ptr {now}")
    w.branch(w.emit(f"icmp ult i64 {next}, {until}"), labels[0], labels[1])
    w.place(labels[1])


def _slot_type(lanes: Lanes, name: str) -> str:
    slot = lanes.slots[name]
    return type_text(slot.type, lanes.width if slot.varying else 1)


def _rings(lanes: Lanes, stages: Stages) -> dict[str, str]:
    """Memory for each value that waits, full of ones before the first use: other numbers might be slow to compute."""
    w, code = lanes.w, lanes.code
    if not code.rings:
        code.rings = w.alloca(f"[{MOST_KEPT} x {_RING}]", "rings", align=_BYTES)
        code.rings_ready = w.alloca("i1", "ready")
        w.allocas.append(f"  store i1 false, ptr {code.rings_ready}")
    memory, ready = code.rings, code.rings_ready
    fill, next, done = w.block("fill"), w.block("fill.next"), w.block("filled")
    place = w.alloca("i64", "place")
    w.do(f"store i64 0, ptr {place}")
    w.branch(w.emit(f"load i1, ptr {ready}"), done, fill)
    w.place(fill)
    at = w.emit(f"load i64, ptr {place}")
    address = w.emit(f"getelementptr {_FLOATS}, ptr {memory}, i64 {at}", "p")
    w.do(f"store {_FLOATS} {splat_text('1.0', Machine.F32, PIECE)}, ptr {address}, align {_BYTES}")
    after = w.emit(f"add nuw i64 {at}, 1")
    w.do(f"store i64 {after}, ptr {place}")
    w.branch(w.emit(f"icmp ult i64 {after}, {MOST_KEPT * ENTRIES}"), fill, next)
    w.place(next)
    w.do(f"store i1 true, ptr {ready}")
    w.place(done)
    return {
        name: w.emit(f"getelementptr {_RING}, ptr {memory}, i64 {number}", "p")
        for number, name in enumerate(stages.kept)
    }


# --- steps -----------------------------------------------------------------------------------------------------------


def _step(lanes: Lanes, loop: _Loop, stages: Stages, step: Step, trip: tuple[str, int], ends: bool) -> None:
    """A step in a trip, which is a number of trips behind a multiple of `TOGETHER`."""
    w = lanes.w
    here = w.emit(f"sub i64 {trip[0]}, {step.lag}") if step.lag else trip[0]
    entry = w.emit(f"and i64 {here}, {ENTRIES - 1}")
    lanes.env[loop.node.counter] = _counter(lanes, loop, here, trip[1], ends)
    places = _Places(lanes, loop.rings, entry, trip[1])
    if step.slow:
        _slow_step(lanes, places, step.body)
        return
    made = {node.name for node in step.body}
    read = {name for node in step.body for name in names_in(node.value)}
    for name in stages.kept:
        if name in read and name not in made:
            lanes.env[name] = Val(Machine.F32, places.load(name), None)
    for node in step.body:
        w.mark(node.span.line)
        if isinstance(node, d.Set):
            write_slot(lanes, lanes.slots[node.name], evaluate(lanes, node.value))
            continue
        value = _root(lanes, places, node) if is_root(node) else evaluate(lanes, node.value)
        lanes.env[node.name] = value
        if node.name in stages.kept:
            places.store(node.name, vector(lanes, value))


def _counter(lanes: Lanes, loop: _Loop, here: str, number: int, ends: bool) -> Val:
    """The loop's counter. Before the first trip and after the last it is that of these."""
    w = lanes.w
    if ends:
        here = w.call("llvm.smax.i64", "i64", ["i64", "i64"], [here, "0"])
        last = w.emit(f"sub i64 {loop.trips.text}, 1")
        here = w.call("llvm.smin.i64", "i64", ["i64", "i64"], [here, last])
    elif number:
        here = w.emit(f"add i64 {here}, {number}")
    type, index = loop.node.type, Val(Machine.I64, here, 0)
    index = index if type is Machine.I64 else apply(lanes, "trunc", (index,), type)
    return apply(lanes, "iadd", (loop.start, apply(lanes, "imul", (index, loop.step), type)), type)


def _root(lanes: Lanes, places: "_Places", node: d.Let) -> Val:
    operand = node.value.arguments[0] if isinstance(node.value, d.Op) else node.value
    value = vector(lanes, evaluate(lanes, operand))
    return Val(Machine.F32, finish_root(lanes.w, value, places.load(estimate_of(node.name))), None)


def _slow_step(lanes: Lanes, places: "_Places", body: Sequence[d.Let | d.Set]) -> None:
    """Quotients and estimates of roots, half a register at a time."""
    w = lanes.w
    for node in body:
        w.mark(node.span.line)
        value = node.value
        if not isinstance(value, d.Op) or value.op not in ("fdiv", "fsqrt"):
            lanes.env[node.name] = evaluate(lanes, value)
            continue
        for half in range(2):
            operands = [_half(lanes, places, operand, half) for operand in value.arguments]
            if value.op == "fdiv":
                places.store(node.name, w.emit(f"fdiv {_HALVES} {operands[0]}, {operands[1]}"), half)
                continue
            types = [_HALVES, _HALVES, "i8"]
            estimate = w.call("llvm.x86.avx512.rsqrt14.ps.256", _HALVES, types, [operands[0], "zeroinitializer", "-1"])
            places.store(estimate_of(node.name), estimate, half)


def _half(lanes: Lanes, places: "_Places", operand: d.Expr, half: int) -> str:
    """Eight lanes of an operand, from memory where it waits there."""
    if isinstance(operand, d.Value) and operand.name in places.rings:
        return places.load(operand.name, half)
    value = evaluate(lanes, operand)
    if value.constant is not None:
        return splat_text(value.text, Machine.F32, _HALF)
    if value.uniform:
        return splat(lanes.w, value.text, Machine.F32, _HALF)
    whole = vector(lanes, value)
    return lanes.w.emit(f"shufflevector {_FLOATS} {whole}, {_FLOATS} poison, {lane_numbers(half * _HALF, _HALF)}")


@dataclass(frozen=True, slots=True)
class _Places:
    """The entries of all rings for one trip."""

    lanes: Lanes
    rings: dict[str, str]
    entry: str
    number: int

    def load(self, name: str, half: int | None = None) -> str:
        address, type, align = self._address(name, half)
        return self.lanes.w.emit(f"load {type}, ptr {address}, align {align}")

    def store(self, name: str, value: str, half: int | None = None) -> None:
        address, type, align = self._address(name, half)
        self.lanes.w.do(f"store {type} {value}, ptr {address}, align {align}")

    def _address(self, name: str, half: int | None) -> tuple[str, str, int]:
        w = self.lanes.w
        address = w.emit(f"getelementptr inbounds {_FLOATS}, ptr {self.rings[name]}, i64 {self.entry}", "p")
        behind = self.number * _BYTES + (half or 0) * _BYTES // 2
        if behind:
            address = w.emit(f"getelementptr inbounds i8, ptr {address}, i64 {behind}", "p")
        if half is None:
            return address, _FLOATS, _BYTES
        return address, _HALVES, _BYTES // 2
