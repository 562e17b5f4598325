"""Statements of one thread: control flow as branches, with one exit per loop where the IR has one."""

from collections.abc import Sequence
from typing import assert_never

from isogrid.backends.cuda.emit_address import Linear, signed
from isogrid.backends.cuda.emit_alignment import zero_bits
from isogrid.backends.cuda.emit_atomic import emit_atomic
from isogrid.backends.cuda.emit_batch import batch_of, counter_of, emit_batches
from isogrid.backends.cuda.emit_code import (
    Code,
    Exit,
    assuming,
    define,
    evaluate,
    store,
    write_variable,
)
from isogrid.backends.cuda.emit_collective import emit_collective
from isogrid.backends.cuda.emit_slow import emit_rare
from isogrid.backends.cuda.emit_sync import group_meeting, warp_barrier, warp_meeting
from isogrid.backends.cuda.emit_trap import emit_check
from isogrid.backends.cuda.emit_warps import emit_warp_collective
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.walk import visit
from isogrid.printers.llvm_text import type_text
from isogrid.support.errors import CompilerBug

#: LLVM's mark of a loop that its author asked not to unroll. ptxas then keeps one load in flight, so nothing else
#: gets it but what seldom runs.
ROLLED = "!llvm.loop !1"
#: Loops of at most so many trips are written out, if that makes no more nodes than this.
_FEW, _FEW_NODES = 4, 200


def emit_block(code: Code, body: Sequence[d.Statement]) -> None:
    for statement in body:
        if not code.w.open:
            break
        code.w.mark(statement.span.line)
        emit_statement(code, statement)


def emit_statement(code: Code, node: d.Statement) -> None:
    match node:
        case d.Let():
            define(code, node)
        case d.Set():
            write_variable(code, node.name, evaluate(code, node.value))
        case d.Store():
            store(code, node)
        case d.Atomic():
            emit_atomic(code, node)
        case d.Check():
            emit_check(code, node)
        case d.If():
            _if(code, node)
        case d.For():
            _for(code, node)
        case d.Loop():
            _loop(code, node)
        case d.Scope():
            end = code.w.block("scope.end")
            code.exits.append(Exit("scope", node.label, end))
            emit_block(code, node.body)
            code.exits.pop()
            code.w.place(end)
        case d.Leave():
            code.w.jump(_exit(code, "scope", node.label))
        case d.Break():
            code.w.jump(_exit(code, "loop"))
        case d.Continue():
            code.w.jump(_exit(code, "trip"))
        case d.Return():
            code.w.jump(code.end)
        case d.Fill():
            _fill(code, node)
        case d.Barrier():
            group_meeting(code, code.meetings.pending(node))
        case d.Collective():
            emit_collective(code, node)
        case d.WarpBarrier():
            warp_meeting(code, code.meetings.pending(node))
            warp_barrier(code)
        case d.WarpCollective():
            emit_warp_collective(code, node)
        case d.Agree():
            raise CompilerBug("threads agree only where a target has no warps, and this one has")
        case _:
            assert_never(node)


def _exit(code: Code, kind: str, name: str = "") -> str:
    return next(e.label for e in reversed(code.exits) if (e.kind, e.name) == (kind, name))


def _if(code: Code, node: d.If) -> None:
    w = code.w
    condition = evaluate(code, node.condition)
    if node.rare and not node.otherwise:
        emit_rare(code, node, condition)
        return
    then, end = w.block("then"), w.block("end")
    otherwise = w.block("else") if node.otherwise else end
    w.branch(condition, then, otherwise)
    w.place(then)
    with assuming(code, node.condition, True):
        emit_block(code, node.then)
    if node.otherwise:
        w.jump(end)
        w.place(otherwise)
        with assuming(code, node.condition, False):
            emit_block(code, node.otherwise)
    w.place(end)


def _for(code: Code, node: d.For) -> None:
    w = code.w
    start, step, trips = evaluate(code, node.start), evaluate(code, node.step), evaluate(code, node.trips)
    most = _most_trips(code, node)
    _bind_counter(code, node)
    code.zeros[node.counter] = min(zero_bits(code.zeros, node.start), zero_bits(code.zeros, node.step))
    if most <= _FEW and node.unroll != 1 and most * len(list(visit(node.body))) <= _FEW_NODES:
        _few_trips(code, node, (start, step, trips), most)
        return
    batched = batch_of(code.kernel, node) if node.counter not in code.variables and code.batches else 0
    # Counted in 32 bits where that is enough: the GPU takes two instructions for one of 64.
    size = "i32" if most < 1 << 31 else "i64"
    if size == "i32":
        trips = w.emit(f"trunc i64 {trips} to i32")
    trip = w.alloca(size, "trip")
    w.do(f"store {size} 0, ptr {trip}")
    head, body, again, exit = w.block("for"), w.block("for.body"), w.block("for.again"), w.block("for.end")
    if batched:
        emit_batches(code, node, batched, trip, (start, step, trips, size), head)
    w.place(head)
    count = w.emit(f"load {size}, ptr {trip}")
    w.branch(w.emit(f"icmp ult {size} {count}, {trips}"), body, exit)
    w.place(body)
    _set_counter(code, node, counter_of(code, node, start, step, count, size))
    usual, code.usual = code.usual, code.usual and not batched
    _trip(code, node, exit, again)
    code.usual = usual
    w.do(f"store {size} {w.emit(f'add nuw {size} {count}, 1')}, ptr {trip}")
    _back(code, head, rolled=node.unroll == 1 or batched > 0)
    w.place(exit)


def _most_trips(code: Code, node: d.For) -> int:
    """The most trips that the loop can make, as far as is known."""
    if code.ranges is None:
        return (1 << 64) - 1
    low, high = code.ranges.of(node.trips)
    return high if low >= 0 else (1 << 64) - 1


def _set_counter(code: Code, node: d.For, counter: str) -> None:
    if node.counter in code.variables:
        write_variable(code, node.counter, counter)
    else:
        code.env[node.counter] = counter
        code.sums.pop(node.counter, None)


def _few_trips(code: Code, node: d.For, ends: tuple[str, str, str], most: int) -> None:
    """A loop of at most a few trips, one behind the other: what comes before a trip is then known while it is made,
    and the assembler does not make room for more."""
    w, text = code.w, type_text(node.type)
    start, step, trips = ends
    exit = w.block("few.end")
    for number in range(most):
        body, again = w.block("few.body"), w.block("few.again")
        w.branch(w.emit(f"icmp ult i64 {number}, {trips}"), body, exit)
        w.place(body)
        counter = start
        if number:
            counter = w.emit(f"add {text} {start}, {w.emit(f'mul {text} {step}, {number}')}")
        _set_counter(code, node, counter)
        if node.counter not in code.variables and node.type is Machine.I64 and isinstance(node.step, d.Literal):
            code.sums[node.counter] = Linear(((start, 1),), signed(node.step.bits) * number)
        _trip(code, node, exit, again)
    w.place(exit)


def _bind_counter(code: Code, node: d.For) -> None:
    """Between which numbers a counter stays."""
    if code.ranges is None or code.loops is None:
        return
    found = code.loops.counting.get(id(node))
    code.ranges.forget([(node.counter, node.type)])
    if found is None or found.is_unsigned or node.counter in code.variables:
        return
    start, stop = code.ranges.of(found.start), code.ranges.of(found.stop)
    low, high = (start[0], stop[1] - 1) if found.step > 0 else (stop[0] + 1, start[1])
    if low <= high:
        code.ranges.bind_interval(node.counter, node.type, (low, high))


def _loop(code: Code, node: d.Loop) -> None:
    w = code.w
    head, again, exit = w.block("loop"), w.block("loop.again"), w.block("loop.end")
    w.place(head)
    _trip(code, node, exit, again)
    _back(code, head, rolled=node.unroll == 1)
    w.place(exit)


def _trip(code: Code, node: d.For | d.Loop, exit: str, again: str) -> None:
    """One trip; `continue` ends it."""
    code.exits += [Exit("loop", "", exit), Exit("trip", "", again)]
    emit_block(code, node.body)
    del code.exits[-2:]
    code.w.place(again)


def _back(code: Code, head: str, *, rolled: bool) -> None:
    code.w.finish(f"br label %{head}{f', {ROLLED}' if rolled else ''}")


def _fill(code: Code, node: d.Fill) -> None:
    buffer = code.buffers[node.buffer]
    assert buffer.count is not None
    size = buffer.count * buffer.memory.bits // 8
    code.w.stored(buffer.pointer)
    code.w.call("llvm.memset.p0.i64", "void", ["ptr", "i8", "i64", "i1"], [buffer.pointer, "0", str(size), "false"])
