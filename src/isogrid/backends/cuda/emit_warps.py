"""Warp operations: shuffles and votes of the hardware for widths to 32; a warp of 64 goes through shared memory."""

from isogrid.backends.cuda.emit_code import SHARED_POINTER, Code, apply, evaluate, write_variable
from isogrid.backends.cuda.emit_collective import Unit, combined, combiner, get, put, scratch_bytes, turn
from isogrid.backends.cuda.emit_exchange import shuffle
from isogrid.backends.cuda.emit_sync import (
    leave_with_warp,
    warp_any,
    warp_mask,
    warp_meeting,
    wide_warp_barrier,
)
from isogrid.backends.cuda.emit_trap import record_trap
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar
from isogrid.printers.llvm_text import element_type, type_text
from isogrid.support.errors import CompilerBug


def emit_warp_collective(code: Code, node: d.WarpCollective) -> None:
    value = evaluate(code, node.value)
    lane = "" if node.lane is None else code.w.emit(f"trunc i64 {evaluate(code, node.lane)} to i32")
    warp_meeting(code, code.meetings.pending(node))
    if code.kernel.warp > 32:
        result, fits = _wide(code, node, value, lane)
    else:
        result, fits = _narrow(code, node, value, lane)
    if fits:
        _leave_at_total(code, node, fits)
    write_variable(code, node.target, result)


def _leave_at_total(code: Code, node: d.WarpCollective, fits: str) -> None:
    """The warp leaves where a total is out of its type: lane 0 names a sum, the lowest such lane a scan."""
    assert node.total is not None
    w = code.w
    bad, good, mine = w.block("lost"), w.block("fits"), w.block("lost.mine")
    w.branch(fits, good, bad)
    w.place(bad)
    lane = _lane(code)
    if node.op == "sum":
        w.branch(w.emit(f"icmp eq i32 {lane}, 0"), mine, good)
        w.place(mine)
    record_trap(code, node.total, [])
    w.place(good)
    lost = warp_any(code, w.emit(f"xor i1 {fits}, true"))
    if id(node) in code.meetings.followed:
        leave_with_warp(code, lost)
        return
    out, stay = w.block("warp.out"), w.block("warp.stay")
    w.branch(lost, out, stay)
    w.place(out)
    w.finish("ret void")
    w.place(stay)


def _lane(code: Code) -> str:
    """The lane in the logical warp."""
    return code.w.emit(f"and i32 {code.local}, {code.kernel.warp - 1}")


# --- widths to 32 -----------------------------------------------------------------------------------------------------


def _narrow(code: Code, node: d.WarpCollective, value: str, lane: str) -> tuple[str, str]:
    w, width, mask = code.w, code.kernel.warp, warp_mask(code)
    machine = Machine.I1 if node.scalar is Scalar.BOOL else element_type(node.scalar)
    match node.op:
        case "shuffle":
            return shuffle(code, "idx", mask, value, type_text(machine), lane, width), ""
        case "any" | "all":
            return w.call(f"llvm.nvvm.vote.{node.op}.sync", "i1", ["i32", "i1"], [mask, value]), ""
        case "ballot":
            bits = w.call("llvm.nvvm.vote.ballot.sync", "i32", ["i32", "i1"], [mask, value])
            first = w.emit(f"and i32 {code.local}, {32 - width}")
            return (w.emit(f"lshr i32 {bits}, {first}") if width < 32 else bits), ""
        case "scan":
            return _scan(code, node, value, mask)
        case _:
            return _reduce(code, node, value, mask)


def _widened(code: Code, node: d.WarpCollective, value: str) -> tuple[str, str]:
    """The value in a width that holds the exact total, and that type."""
    text = type_text(element_type(node.scalar))
    if node.total is None:
        return value, text
    wide = "i64" if text == "i32" else "i128"
    extend = "sext" if node.scalar.is_signed else "zext"
    return code.w.emit(f"{extend} {text} {value} to {wide}"), wide


def _both(code: Code, node: d.WarpCollective, a: str, b: str, text: str) -> str:
    machine = element_type(node.scalar)
    if text != type_text(machine):
        return code.w.emit(f"add {text} {a}, {b}")
    return apply(code, combiner(node.op, node.scalar), [a, b], machine, machine)


def _narrowed(code: Code, node: d.WarpCollective, value: str, text: str) -> tuple[str, str]:
    raw = type_text(element_type(node.scalar))
    if text == raw:
        return value, ""
    result = code.w.emit(f"trunc {text} {value} to {raw}")
    again, _ = _widened(code, node, result)
    return result, code.w.emit(f"icmp eq {text} {again}, {value}")


def _reduce(code: Code, node: d.WarpCollective, value: str, mask: str) -> tuple[str, str]:
    value, text = _widened(code, node, value)
    step = code.kernel.warp // 2
    while step:
        value = _both(code, node, value, shuffle(code, "bfly", mask, value, text, str(step)), text)
        step //= 2
    return _narrowed(code, node, value, text)


def _scan(code: Code, node: d.WarpCollective, given: str, mask: str) -> tuple[str, str]:
    w, width, lane = code.w, code.kernel.warp, _lane(code)
    own, text = _widened(code, node, given)
    value, distance = own, 1
    while distance < width:
        below = shuffle(code, "up", mask, value, text, str(distance), width)
        enough = w.emit(f"icmp uge i32 {lane}, {distance}")
        value = w.emit(f"select i1 {enough}, {text} {_both(code, node, below, value, text)}, {text} {value}")
        distance *= 2
    if node.exclusive and node.scalar.is_integer:
        value = w.emit(f"sub {text} {value}, {own}")
    elif node.exclusive:
        below = shuffle(code, "up", mask, value, text, "1", width)
        first = w.emit(f"icmp eq i32 {lane}, 0")
        value = w.emit(f"select i1 {first}, {text} 0.0, {text} {below}")
    return _narrowed(code, node, value, text)


# --- a width of 64 ----------------------------------------------------------------------------------------------------


def _wide(code: Code, node: d.WarpCollective, value: str, lane: str) -> tuple[str, str]:
    unit = _unit(code)
    match node.op:
        case "any" | "all":
            return _vote(code, "or" if node.op == "any" else "and", value), ""
        case "ballot":
            return _ballot(code, unit, value), ""
        case "shuffle":
            text = type_text(element_type(node.scalar))
            put(code, unit, 0, text, unit.index, value)
            unit.first()
            return get(code, unit, 0, text, lane), ""
        case _:
            return combined(code, unit, node, value)


def _unit(code: Code) -> Unit:
    """The warp's own part of the half whose turn it is: its warps meet on a barrier of their own."""
    w, width = code.w, code.kernel.warp
    size = scratch_bytes(width)
    half = turn(code, "warp parity", code.threads // width * size)
    number = w.emit(f"lshr i32 {code.local}, {width.bit_length() - 1}")
    offset = w.emit(f"add nuw i32 {half}, {w.emit(f'mul nuw i32 {number}, {size}')}")
    base = code.buffers["warp scratch"].pointer
    scratch = w.emit(f"getelementptr inbounds i8, {SHARED_POINTER} {base}, i32 {offset}", "scratch")
    lane = w.emit(f"and i32 {code.local}, 31")

    def meet() -> None:
        wide_warp_barrier(code, "false")

    return Unit(width, _lane(code), lane, scratch, meet, meet)


def _vote(code: Code, op: str, value: str) -> str:
    if op == "or":
        return wide_warp_barrier(code, value)
    not_all = wide_warp_barrier(code, code.w.emit(f"xor i1 {value}, true"))
    return code.w.emit(f"xor i1 {not_all}, true")


def _ballot(code: Code, unit: Unit, value: str) -> str:
    """Each hardware warp leaves its 32 bits in memory."""
    w = code.w
    if code.kernel.warp != 64:
        raise CompilerBug(f"a warp of {code.kernel.warp} lanes")
    bits = w.call("llvm.nvvm.vote.ballot.sync", "i32", ["i32", "i1"], ["-1", value])
    half = w.emit(f"lshr i32 {unit.index}, 5")
    put(code, unit, 0, "i32", half, bits)
    unit.first()
    return get(code, unit, 0, "i64", "0")
