"""Atomic updates, one lane at a time: locked instructions on global memory, plain ones on memory of one group.

A checked total counts wraps beside the element: +1 for each add that left the type upward, -1 downward. The
mathematical total is in range exactly when the counter is back at zero.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from isogrid.backends.cpu.emit_counted import counted
from isogrid.backends.cpu.emit_memory import evaluate, load, place_in, store, to_memory
from isogrid.backends.cpu.emit_values import BufferRef, Lanes, Val, apply, mask_text, write_slot
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar, Space
from isogrid.ir.walk import visit_statements
from isogrid.printers.llvm_ops import Shape, operation
from isogrid.printers.llvm_text import Writer, element_type, type_text

_LOCKED = {"add": "add", "and": "and", "or": "or", "xor": "xor", "exchange": "xchg"}
_PLAIN = {"add": "iadd", "and": "iand", "or": "ior", "xor": "ixor"}


def adds_to_memory(body: d.Block) -> bool:
    """Whether a thread body updates elements in place: most of these cost a locked instruction each."""
    return any(isinstance(node, d.Atomic) for node in visit_statements(body))


def emit_atomic(lanes: Lanes, node: d.Atomic) -> None:
    index = evaluate(lanes, node.index)
    expected = None if node.expected is None else to_memory(lanes, evaluate(lanes, node.expected), node.element)
    value = to_memory(lanes, evaluate(lanes, node.value), node.element)
    buffer = lanes.code.buffers[node.buffer]
    place = place_in(lanes, buffer, index)
    lanes.w.stored(buffer.pointer)
    if buffer.sums and place.stride == 1 and lanes.width > 1:
        _sum_lanes(lanes, buffer, place, value)
    elif lanes.width == 1:
        old = _one(lanes, node, buffer, place, value, expected)
        if node.target:
            write_slot(lanes, lanes.slots[node.target], Val(value.type, old, 0))
    else:
        _each_lane(lanes, node, buffer, place, value, expected)


def _sum_lanes(lanes: Lanes, buffer: BufferRef, place: Val, value: Val) -> None:
    """Add to adjacent private sums."""
    wide = apply(lanes, "sext" if buffer.element.is_signed else "zext", (value,), Machine.I64)
    sums = replace(buffer, element=Scalar.I64)
    store(lanes, sums, place, apply(lanes, "iadd", (load(lanes, sums, place, Machine.I64), wide), Machine.I64))


def _each_lane(lanes: Lanes, node: d.Atomic, buffer: BufferRef, place: Val, value: Val, expected: Val | None) -> None:
    """A loop over the lanes that are on, in their order."""
    places, values = _in_turn(lanes, place), _in_turn(lanes, value)
    wanted = None if expected is None else _in_turn(lanes, expected)
    one = replace(lanes, width=1, mask=None)

    def update(lane: str) -> None:
        w = lanes.w
        old = _one(one, node, buffer, places(lane), values(lane), None if wanted is None else wanted(lane))
        if node.target:
            text = type_text(value.type)
            slot = lanes.slots[node.target].pointer
            w.do(f"store {text} {old}, ptr {w.emit(f'getelementptr {text}, ptr {slot}, i64 {lane}', 'p')}")

    if lanes.mask is None:
        counted(lanes.w, "0", str(lanes.width), "1", update)
    else:
        _over_set_bits(lanes, update)


def _over_set_bits(lanes: Lanes, update: Callable[[str], None]) -> None:
    w, width = lanes.w, lanes.width
    bits = w.alloca(f"i{width}", "bits")
    w.do(f"store i{width} {w.emit(f'bitcast <{width} x i1> {mask_text(lanes)} to i{width}')}, ptr {bits}")
    head, body, done = w.block("lane"), w.block("lane.body"), w.block("lane.end")
    w.place(head)
    left = w.emit(f"load i{width}, ptr {bits}")
    w.branch(w.emit(f"icmp ne i{width} {left}, 0"), body, done)
    w.place(body)
    lane = w.call(f"llvm.cttz.i{width}", f"i{width}", [f"i{width}", "i1"], [left, "true"])
    below = w.emit(f"sub i{width} {left}, 1")
    w.do(f"store i{width} {w.emit(f'and i{width} {left}, {below}')}, ptr {bits}")
    convert = "zext" if width < 64 else "trunc"
    update(lane if width == 64 else w.emit(f"{convert} i{width} {lane} to i64"))
    w.jump(head)
    w.place(done)


def _in_turn(lanes: Lanes, value: Val) -> Callable[[str], Val]:
    """The value of the lane with a number. Vectors go through memory once: to pick an element by a number would take
    the whole vector there for each lane."""
    w, text = lanes.w, type_text(value.type)
    if value.uniform:
        return lambda lane: value
    if value.stride is not None:
        return lambda lane: _strided(w, value, lane)
    memory = w.alloca(type_text(value.type, lanes.width), "lanes", 64)
    w.do(f"store {type_text(value.type, lanes.width)} {value.text}, ptr {memory}")

    def picked(lane: str) -> Val:
        return Val(
            value.type, w.emit(f"load {text}, ptr {w.emit(f'getelementptr {text}, ptr {memory}, i64 {lane}', 'p')}"), 0
        )

    return picked


def _strided(w: Writer, value: Val, lane: str) -> Val:
    text, bits = type_text(value.type), value.type.bits
    number = lane if bits == 64 else w.emit(f"trunc i64 {lane} to {text}")
    steps = w.emit(f"mul {text} {number}, {(value.stride or 0) & ((1 << bits) - 1)}")
    return Val(value.type, w.emit(f"add {text} {value.text}, {steps}"), 0)


def _one(lanes: Lanes, node: d.Atomic, buffer: BufferRef, place: Val, value: Val, expected: Val | None) -> str:
    """The element as it was; it is meant only where the node has a target."""
    w = lanes.w
    text = type_text(element_type(node.element))
    if buffer.sums:
        extend = "sext" if buffer.element.is_signed else "zext"
        sum = w.emit(f"getelementptr inbounds i64, ptr {buffer.pointer}, i64 {place.text}", "p")
        wide = w.emit(f"{extend} i32 {value.text} to i64")
        before = w.emit(f"load i64, ptr {sum}")
        w.do(f"store i64 {w.emit(f'add i64 {before}, {wide}')}, ptr {sum}")
        return before
    address = w.emit(f"getelementptr {text}, ptr {buffer.pointer}, i64 {place.text}", "p")
    if buffer.space is not Space.GLOBAL or lanes.code.alone:
        old = _plain(lanes, node, address, value, expected)
        if node.total is not None:
            _count_wraps(lanes, node, buffer, place, old, value)
        return old
    done = ""
    if node.op in ("add", "or", "xor") and value.constant is None and not node.target and not value.type.is_float:
        # Most bins of a group's histogram are empty, and a locked instruction costs as much as twenty plain ones.
        change, done = w.block("change"), w.block("unchanged")
        w.branch(w.emit(f"icmp ne {text} {value.text}, 0"), change, done)
        w.place(change)
    old = _locked(lanes, node, address, value, expected)
    if node.total is not None:
        _count_wraps(lanes, node, buffer, place, old, value)
    if done:
        w.place(done)
    return old


def _locked(lanes: Lanes, node: d.Atomic, address: str, value: Val, expected: Val | None) -> str:
    w = lanes.w
    text = type_text(value.type)
    if expected is not None:
        old, new = _as_integer(lanes, expected), _as_integer(lanes, value)
        integer = type_text(old.type)
        pair = w.emit(f"cmpxchg ptr {address}, {integer} {old.text}, {integer} {new.text} monotonic monotonic")
        return w.emit(f"extractvalue {{{integer}, i1}} {pair}, 0")
    if node.op == "load":
        return w.emit(f"load atomic {text}, ptr {address} monotonic, align {value.type.bits // 8}")
    if node.op == "store":
        w.do(f"store atomic {text} {value.text}, ptr {address} monotonic, align {value.type.bits // 8}")
        return ""
    if node.op in ("min", "max"):
        kind = _extreme(node.element)
        name = {"f": f"f{node.op}imum", "s": node.op, "u": f"u{node.op}"}[kind]
    elif node.op == "add" and value.type.is_float:
        name = "fadd"
    else:
        name = _LOCKED[node.op]
    return w.emit(f"atomicrmw {name} ptr {address}, {text} {value.text} monotonic")


def _as_integer(lanes: Lanes, value: Val) -> Val:
    if not value.type.is_float:
        return value
    integer = Machine.I32 if value.type is Machine.F32 else Machine.I64
    return Val(integer, lanes.w.emit(f"bitcast {type_text(value.type)} {value.text} to {type_text(integer)}"), 0)


def _extreme(element: Scalar) -> str:
    if element.is_float:
        return "f"
    return "s" if element.is_signed else "u"


def _plain(lanes: Lanes, node: d.Atomic, address: str, value: Val, expected: Val | None) -> str:
    """Threads of a group run in turn on one processor, so load, operate, store is atomic for its memory."""
    w = lanes.w
    text = type_text(value.type)
    old = w.emit(f"load {text}, ptr {address}")
    match node.op:
        case "load":
            return old
        case "add" if value.type.is_float:
            new = w.emit(f"fadd {text} {old}, {value.text}")
        case "exchange" | "store":
            new = value.text
        case "cas":
            assert expected is not None
            wanted, present = _as_integer(lanes, expected), _as_integer(lanes, Val(value.type, old, 0))
            same = w.emit(f"icmp eq {type_text(wanted.type)} {wanted.text}, {present.text}")
            new = w.emit(f"select i1 {same}, {text} {value.text}, {text} {old}")
        case "min" | "max":
            name = f"{_extreme(node.element)}{node.op}"
            new = operation(w, name, [old, value.text], value.type, value.type, Shape())
        case _:
            new = operation(w, _PLAIN[node.op], [old, value.text], value.type, value.type, Shape())
    w.do(f"store {text} {new}, ptr {address}")
    return old


def _count_wraps(lanes: Lanes, node: d.Atomic, buffer: BufferRef, place: Val, old: str, value: Val) -> None:
    w = lanes.w
    signed = node.element.is_signed
    op = "sadd_overflows" if signed else "uadd_overflows"
    wrapped = operation(w, op, [old, value.text], value.type, value.type, Shape())
    count, done = w.block("wrapped"), w.block("counted")
    w.branch(wrapped, count, done)
    w.place(count)
    change = "1"
    if signed:
        negative = w.emit(f"icmp slt {type_text(value.type)} {value.text}, 0")
        change = w.emit(f"select i1 {negative}, i64 -1, i64 1")
    counter = w.emit(f"getelementptr i64, ptr {buffer.shadow}, i64 {place.text}", "p")
    match buffer.space:
        case Space.GLOBAL:
            w.do(f"{w.name()} = atomicrmw add ptr {counter}, i64 {change} monotonic")
        case Space.SHARED | Space.LOCAL:
            before = w.emit(f"load i64, ptr {counter}")
            w.do(f"store i64 {w.emit(f'add i64 {before}, {change}')}, ptr {counter}")
            w.do(f"store i1 true, ptr {lanes.code.dirty}")
        case Space.TABLE:
            raise KeyError(node.buffer)
        case _:
            assert_never(buffer.space)
    w.place(done)
