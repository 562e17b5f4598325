"""Statements of a vector of lanes: uniform control flow as branches, divergent control flow as masks.

`if c: A else: B` with c varying runs A under `mask & c`, then B under `mask & ~c`, each skipped when no lane is on.
A divergent exit clears lanes from the live masks of the constructs that it leaves; the rest of the block runs on those
that remain.
"""

from collections.abc import Callable, Sequence
from typing import Final, assert_never

from isogrid.backends.cpu.emit_atomic import emit_atomic
from isogrid.backends.cpu.emit_balance import plan_loop
from isogrid.backends.cpu.emit_exact import in_place, settle
from isogrid.backends.cpu.emit_levels import expressions_of, names_in
from isogrid.backends.cpu.emit_memory import evaluate, fill, store
from isogrid.backends.cpu.emit_polled import begin_piece, count_down, end_piece, poll, trips_of_a_piece
from isogrid.backends.cpu.emit_rings import emit_staged, stages_here
from isogrid.backends.cpu.emit_stages import is_slow
from isogrid.backends.cpu.emit_values import (
    Frame,
    Lanes,
    Val,
    any_lane,
    apply,
    both,
    literal,
    makes_quotients,
    mask_text,
    mask_type,
    vector,
    without,
    write_slot,
)
from isogrid.backends.cpu.layout import MAX_OPERANDS, RECORD_LOCAL, RECORD_OPERANDS, RECORD_SITE, RECORD_THREAD
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.printers.llvm_text import type_text
from isogrid.support.errors import CompilerBug, KnownLimit

#: Statements of a loop's body that may be written twice: for trips of all lanes, and of some.
_SHORT: Final = 16
#: Weights of a branch that a hint calls rare.
_RARELY: Final = ', !prof !{!"branch_weights", i32 1, i32 50}'


def emit_thread(lanes: Lanes, body: d.Block) -> None:
    """A thread's body from start to end; control goes on behind it."""
    exit = lanes.w.block("thread.end")
    mask = lanes.mask
    frame = _enter(lanes, "thread", "", exit, lanes.levels.divergent_return)
    emit_block(lanes, body)
    _exit(lanes, frame)
    if frame.reached or not lanes.w.open:
        lanes.w.place(exit)
    lanes.mask = mask


def emit_block(lanes: Lanes, body: Sequence[d.Statement]) -> None:
    """Statements in order. Afterwards `lanes.mask` is meaningless: the caller knows what it was before."""
    end = ""
    inside = next((f for f in reversed(lanes.frames) if f.live), None)
    for place, statement in enumerate(body):
        if not lanes.w.open:
            break
        mask, cleared = lanes.mask, inside.cleared if inside else 0
        lanes.w.mark(statement.span.line)
        _statement(lanes, statement)
        lanes.mask = mask
        if inside and inside.cleared != cleared and place + 1 < len(body) and lanes.w.open:
            lanes.mask = both(lanes, mask, lanes.w.emit(f"load {mask_type(lanes)}, ptr {inside.live}", "m"))
            end = end or lanes.w.block("rest.end")
            rest = lanes.w.block("rest")
            lanes.w.branch(any_lane(lanes, lanes.mask), rest, end)
            lanes.w.place(rest)
    if end:
        lanes.w.place(end)


def _statement(lanes: Lanes, node: d.Statement) -> None:
    match node:
        case d.Let():
            value = evaluate(lanes, node.value)
            if node.name in lanes.slots:
                write_slot(lanes, lanes.slots[node.name], value)
            else:
                lanes.env[node.name] = value
        case d.Set():
            write_slot(lanes, lanes.slots[node.name], evaluate(lanes, node.value))
        case d.Store():
            index = evaluate(lanes, node.index)
            store(lanes, lanes.code.buffers[node.buffer], index, evaluate(lanes, node.value))
            lanes.slow = ""
        case d.Atomic():
            emit_atomic(lanes, node)
            lanes.slow = ""
        case d.Check():
            _check(lanes, node)
        case d.If():
            _if(lanes, node)
        case d.For():
            lanes.slow = ""
            _for(lanes, node)
        case d.Loop():
            lanes.slow = ""
            _loop(lanes, node)
        case d.Scope():
            _scope(lanes, node)
        case d.Leave():
            _leave(lanes, lambda f: f.kind == "scope" and f.label == node.label)
        case d.Break():
            _leave(lanes, lambda f: f.kind == "loop")
        case d.Continue():
            _leave(lanes, lambda f: f.kind == "trip")
        case d.Return():
            _leave(lanes, lambda f: f.kind == "thread")
        case d.Fill():
            fill(lanes, lanes.code.buffers[node.buffer])
        case d.Barrier() | d.Collective() | d.WarpBarrier() | d.WarpCollective() | d.Agree():
            raise CompilerBug("a barrier reached the code of single threads")
        case _:
            assert_never(node)


# --- checks ----------------------------------------------------------------------------------------------------------


def _check(lanes: Lanes, node: d.Check) -> None:
    """Leave the range when a lane that is on fails; the precise twin fills the record."""
    w, code = lanes.w, lanes.code
    ok = evaluate(lanes, node.ok)
    if ok.constant == 1:
        return
    code.traps = True
    passed = w.block("checked")
    if ok.uniform and code.precise:
        failed = w.block("failed")
        w.branch(ok.text, passed, failed)
        w.place(failed)
        _record(lanes, node)
        w.jump(code.trap_label)
    elif ok.uniform:
        w.branch(ok.text, passed, code.trap_label)
    else:
        bad = without(lanes, lanes.mask, vector(lanes, ok))
        w.branch(any_lane(lanes, bad), code.trap_label, passed)
    w.place(passed)


def _record(lanes: Lanes, node: d.Check) -> None:
    if len(node.operands) > MAX_OPERANDS:
        raise KnownLimit(f"a check with more than {MAX_OPERANDS} operands")
    write_record(lanes, RECORD_SITE, str(node.site + 1))
    write_record(lanes, RECORD_THREAD, lanes.specials[("record", 0)].text)
    write_record(lanes, RECORD_LOCAL, lanes.specials[("record", 1)].text)
    for place, operand in enumerate(node.operands):
        write_record(lanes, RECORD_OPERANDS + place, _bits(lanes, evaluate(lanes, operand)))


def write_record(lanes: Lanes, word: int, value: str) -> None:
    place = lanes.w.emit(f"getelementptr i64, ptr {lanes.code.record}, i64 {word}", "p")
    lanes.w.do(f"store i64 {value}, ptr {place}")


def _bits(lanes: Lanes, value: Val) -> str:
    if value.type.is_float:
        integer = Machine.I32 if value.type is Machine.F32 else Machine.I64
        value = apply(lanes, "bits", (value,), integer)
    return apply(lanes, "zext", (value,), Machine.I64).text


# --- control flow ----------------------------------------------------------------------------------------------------


def _enter(lanes: Lanes, kind: str, label: str, exit: str, divergent: bool) -> Frame:
    """Open a construct. A divergent one gets a mask of the lanes inside, which is also the mask of its body."""
    live = ""
    if divergent and lanes.width > 1:
        live = lanes.w.alloca(mask_type(lanes), "live")
        lanes.w.do(f"store {mask_type(lanes)} {mask_text(lanes)}, ptr {live}")
        lanes.depth += 1
    frame = Frame(kind, label, exit, live, lanes.depth)
    lanes.frames.append(frame)
    return frame


def _exit(lanes: Lanes, frame: Frame) -> None:
    lanes.frames.remove(frame)
    if frame.live:
        lanes.depth -= 1


def _leave(lanes: Lanes, wanted: Callable[[Frame], bool]) -> None:
    """Go to the end of a construct: all lanes that are on together, or the lanes that are on apart from others."""
    target = next(f for f in reversed(lanes.frames) if wanted(f))
    if target.depth == lanes.depth:
        target.reached = True
        lanes.w.jump(target.exit)
        return
    for frame in reversed(lanes.frames):
        frame.cleared += 1
        if frame.live:
            old = lanes.w.emit(f"load {mask_type(lanes)}, ptr {frame.live}", "m")
            lanes.w.do(f"store {mask_type(lanes)} {without(lanes, old, mask_text(lanes))}, ptr {frame.live}")
        if frame is target:
            return


def _if(lanes: Lanes, node: d.If) -> None:
    if _cannot_stage(lanes, node.then):
        emit_block(lanes, node.otherwise)
        return
    condition = evaluate(lanes, node.condition)
    if condition.uniform:
        _uniform_if(lanes, condition.text, node)
        return
    before, test = lanes.mask, vector(lanes, condition)
    lanes.depth += 1
    for body, mask in ((node.then, both(lanes, before, test)), (node.otherwise, "")):
        if not body:
            continue
        lanes.mask = mask or without(lanes, before, test)
        if _is_cheap(body):
            emit_block(lanes, body)
            continue
        then, end = lanes.w.block("then"), lanes.w.block("end")
        lanes.w.branch(any_lane(lanes, lanes.mask), then, end, _RARELY if node.rare else "")
        lanes.w.place(then)
        emit_block(lanes, body)
        lanes.w.place(end)
    lanes.depth -= 1


def _cannot_stage(lanes: Lanes, body: d.Block) -> bool:
    """Whether the block is a loop in stages that cannot run so here: what stands instead of it does the same."""
    loop = next((node for node in body if isinstance(node, d.For)), None)
    rounds = lanes.code.overlapped.get(loop.counter) if loop is not None else None
    return loop is not None and rounds is not None and rounds.staged and stages_here(lanes, loop) is None


def _is_cheap(body: d.Block) -> bool:
    """Whether running the block under an empty mask is safe and costs less than a branch."""
    return len(body) <= 6 and all(isinstance(s, d.Let | d.Set) and _is_arithmetic(s.value) for s in body)


def _is_arithmetic(node: d.Expr) -> bool:
    match node:
        case d.Load():
            return False
        case d.Op():
            return node.op not in _COSTLY and all(_is_arithmetic(a) for a in node.arguments)
        case d.Literal() | d.Value() | d.Argument() | d.Special():
            return True
        case _:
            assert_never(node)


#: Slow, or undefined when a uniform operand is not what a check in front of it promised.
_COSTLY = frozenset(
    {"fdiv", "fsqrt", "ffmod", "sdiv", "srem", "udiv", "urem", "fptosi", "fptoui", "shl", "lshr", "ashr"}
)


def _uniform_if(lanes: Lanes, condition: str, node: d.If) -> None:
    w, mask = lanes.w, lanes.mask
    then, end = w.block("then"), w.block("end")
    otherwise = w.block("else") if node.otherwise else end
    w.branch(condition, then, otherwise)
    w.place(then)
    emit_block(lanes, node.then)
    if node.otherwise:
        w.jump(end)
        w.place(otherwise)
        lanes.mask = mask
        emit_block(lanes, node.otherwise)
    w.place(end)


def _scope(lanes: Lanes, node: d.Scope) -> None:
    exit = lanes.w.block("scope.end")
    frame = _enter(lanes, "scope", node.label, exit, lanes.levels.divergent.get(id(node), False))
    emit_block(lanes, node.body)
    _exit(lanes, frame)
    lanes.w.place(exit)


def _for(lanes: Lanes, node: d.For) -> None:
    w = lanes.w
    start, step = evaluate(lanes, node.start), evaluate(lanes, node.step)
    trips = evaluate(lanes, node.trips)
    stages = stages_here(lanes, node)
    if stages is not None and trips.uniform:
        emit_staged(lanes, node, stages, (start, step, trips))
        return
    trip = w.alloca("i64", "trip")
    w.do(f"store i64 0, ptr {trip}")
    if _runs_together(lanes, node, trips):
        _shared_trips(lanes, node, trip, (start, step, trips))
    head, body, again, exit = w.block("for"), w.block("for.body"), w.block("for.again"), w.block("for.end")
    outer = lanes.mask
    divergent = lanes.levels.divergent.get(id(node), False) or not trips.uniform
    frame = _enter(lanes, "loop", "", exit, divergent)
    rounds = lanes.code.overlapped.get(node.counter)
    frame.proved = rounds is not None and rounds.proved
    frame.quick = plan_loop(node.body, frame.proved) if lanes.code.quick_division else {}
    size = trips_of_a_piece(node) if lanes.code.one_thread and trips.uniform and not frame.live else None
    piece = None if size is None else begin_piece(lanes, trip, trips.text, size)
    w.place(head)
    count = Val(Machine.I64, w.emit(f"load i64, ptr {trip}"), 0)
    if trips.uniform:
        most, end = (trips.text, exit) if piece is None else (piece.trips, piece.end)
        w.branch(w.emit(f"icmp ult i64 {count.text}, {most}"), body, end)
        w.place(body)
        lanes.mask = _live_mask(lanes, frame, outer)
    else:
        live = _live_mask(lanes, frame, outer)
        lanes.mask = both(lanes, live, vector(lanes, apply(lanes, "ult", (count, trips), Machine.I1)))
        w.do(f"store {mask_type(lanes)} {lanes.mask}, ptr {frame.live}")
        w.branch(any_lane(lanes, lanes.mask), body, exit)
        w.place(body)
    number = count if piece is None else Val(Machine.I64, w.emit(f"add nuw i64 {piece.before}, {count.text}"), 0)
    count_on(lanes, node, number, (start, step))
    _trip(lanes, node, again)
    w.do(f"store i64 {w.emit(f'add nuw i64 {count.text}, 1')}, ptr {trip}")
    if frame.live and trips.uniform:
        w.branch(any_lane(lanes, w.emit(f"load {mask_type(lanes)}, ptr {frame.live}", "m")), head, exit)
    else:
        w.jump(head)
    _exit(lanes, frame)
    if piece is not None:
        end_piece(lanes, piece, exit)
    w.place(exit)
    lanes.mask = outer


def count_on(lanes: Lanes, node: d.For, count: Val, along: tuple[Val, Val]) -> None:
    """Set a loop's counter from the number of trips before this one, the start and the step."""
    start, step = along
    index = count if node.type is Machine.I64 else apply(lanes, "trunc", (count,), node.type)
    counter = apply(lanes, "iadd", (start, apply(lanes, "imul", (index, step), node.type)), node.type)
    if node.counter in lanes.slots:
        write_slot(lanes, lanes.slots[node.counter], counter)
    else:
        lanes.env[node.counter] = counter


def _runs_together(lanes: Lanes, node: d.For, trips: Val) -> bool:
    """Whether the trips that all lanes make should run without masks: where these cost much, and the body is straight
    and touches memory of its lanes."""
    if lanes.width == 1 or lanes.mask is not None or lanes.code.cheap_masks or trips.uniform:
        return False
    straight = all(isinstance(s, d.Let | d.Set | d.Store) for s in node.body)
    return straight and len(node.body) <= _SHORT and any(isinstance(s, d.Store) for s in node.body)


def _shared_trips(lanes: Lanes, node: d.For, trip: str, along: tuple[Val, Val, Val]) -> None:
    """As many trips as every lane makes; `trip` counts them. Those that only some lanes make are left."""
    w, (start, step, trips) = lanes.w, along
    type = type_text(Machine.I64, lanes.width)
    least = w.call(f"llvm.vector.reduce.umin.v{lanes.width}i64", "i64", [type], [vector(lanes, trips)])
    head, body, again, exit = w.block("all"), w.block("all.body"), w.block("all.again"), w.block("all.end")
    frame = _enter(lanes, "loop", "", exit, False)
    w.place(head)
    count = Val(Machine.I64, w.emit(f"load i64, ptr {trip}"), 0)
    w.branch(w.emit(f"icmp ult i64 {count.text}, {least}"), body, exit)
    w.place(body)
    count_on(lanes, node, count, (start, step))

    def version(slow: str) -> None:
        lanes.slow = slow
        emit_block(lanes, node.body)
        lanes.slow = ""

    # A trip that gives up begins again, so it must not have assigned anything.
    if any(isinstance(s, d.Set) for s in node.body):
        version("")
    else:
        in_versions(lanes, node.body, version)
    w.place(again)
    w.do(f"store i64 {w.emit(f'add nuw i64 {count.text}, 1')}, ptr {trip}")
    w.jump(head)
    _exit(lanes, frame)
    w.place(exit)


def _live_mask(lanes: Lanes, frame: Frame, outer: str | None) -> str | None:
    return lanes.w.emit(f"load {mask_type(lanes)}, ptr {frame.live}", "m") if frame.live else outer


def _trip(lanes: Lanes, node: d.For | d.Loop, again: str) -> None:
    """One trip; `continue` ends it for the lanes that are on."""
    frame = _enter(lanes, "trip", "", again, lanes.levels.trips.get(id(node), False))
    rounds = lanes.code.overlapped.get(node.counter) if isinstance(node, d.For) else None
    outlive = any(s.name in lanes.slots for s in node.body if isinstance(s, d.Let))
    if rounds is None or rounds.staged or outlive:
        emit_block(lanes, node.body)
    else:
        _overlapped_trip(lanes, node.body, rounds.first)
    _exit(lanes, frame)
    lanes.w.place(again)


def _overlapped_trip(lanes: Lanes, body: d.Block, first: frozenset[str]) -> None:
    """One trip of a loop whose trips overlap. All quotients and roots of its first half share one test, behind it: the
    half follows from the loop's counter and can be run again, and nothing but the next trip waits for it."""
    own = [node for node in body if isinstance(node, d.Let) and node.name in first]
    end = body.index(own[-1]) + 1
    unproved: list[str] = []
    for node in body[:end]:
        lanes.w.mark(node.span.line)
        lanes.unproved = unproved if node in own else None
        _statement(lanes, node)
        if isinstance(node, d.Let) and (node not in own or is_slow(node)):
            lanes.env[node.name] = in_place(lanes, lanes.env[node.name])
    later = {name for node in body[end:] for e in expressions_of(node) for name in names_in(e)}
    lanes.unproved = unproved
    settle(lanes, sorted(later & first), lambda: _with_divider(lanes, own))
    emit_block(lanes, body[end:])


def _with_divider(lanes: Lanes, body: Sequence[d.Statement]) -> None:
    loop = next(frame for frame in reversed(lanes.frames) if frame.kind == "loop")
    left, loop.quick = loop.quick, {}
    emit_block(lanes, body)
    loop.quick = left


def _loop(lanes: Lanes, node: d.Loop) -> None:
    w, outer = lanes.w, lanes.mask
    head, again, exit = w.block("loop"), w.block("loop.again"), w.block("loop.end")
    frame = _enter(lanes, "loop", "", exit, lanes.levels.divergent.get(id(node), False))
    frame.quick = plan_loop(node.body, False) if lanes.code.quick_division else {}
    piece = trips_of_a_piece(node) if lanes.code.one_thread and node.bounded else None
    left = "" if piece is None else w.alloca("i64", "left")
    if left:
        w.do(f"store i64 {piece}, ptr {left}")
    w.place(head)
    lanes.mask = _live_mask(lanes, frame, outer)
    _trip(lanes, node, again)
    if left:
        count_down(lanes, left, piece)
    elif not node.bounded:
        poll(lanes)
    if frame.live:
        w.branch(any_lane(lanes, w.emit(f"load {mask_type(lanes)}, ptr {frame.live}", "m")), head, exit)
    else:
        w.jump(head)
    _exit(lanes, frame)
    w.place(exit)
    lanes.mask = outer


def in_versions(lanes: Lanes, body: d.Block, run: Callable[[str], None]) -> None:
    """Run `run(slow)` once, or where quotients of lanes matter in a version that may give up and one that does not."""
    w = lanes.w
    if not any(makes_quotients(e) for s in body for e in expressions_of(s)):
        run("")
        return
    slow, done = w.block("slow"), w.block("fast.end")
    start = len(w.lines)
    run(slow)
    w.jump(done)
    if not any(line.endswith(f"label %{slow}") for line in w.lines[start:]):
        w.place(done)
        return
    w.place(slow)
    run("")
    w.place(done)


def zeroed_slots(lanes: Lanes) -> None:
    """Variables start at zero, so that lanes that are off never hold an undefined value that reaches a branch."""
    for slot in lanes.slots.values():
        width = lanes.width if slot.varying else 1
        lanes.w.do(f"store {type_text(slot.type, width)} zeroinitializer, ptr {slot.pointer}")


__all__ = ["emit_block", "emit_thread", "literal", "poll", "write_record", "zeroed_slots"]
