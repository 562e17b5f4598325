"""Expressions, loads and stores of a vector of lanes: scalar at a uniform index, vector if adjacent, else gather."""

from typing import Final, assert_never

from isogrid.backends.cpu.emit_exact import emit_exact
from isogrid.backends.cpu.emit_lines import load_lines, loads_lines
from isogrid.backends.cpu.emit_tables import picked
from isogrid.backends.cpu.emit_values import (
    BufferRef,
    Lanes,
    Val,
    apply,
    argument,
    literal,
    mask_text,
    mask_type,
    read_slot,
    varying,
    vector,
)
from isogrid.backends.cpu.layout import LINE
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar, Space
from isogrid.printers.llvm_text import element_type, mangled, type_text


def evaluate(lanes: Lanes, node: d.Expr) -> Val:
    """The value of an expression in the lanes that are on; the others hold anything."""
    match node:
        case d.Literal():
            return literal(node.bits, node.type)
        case d.Value():
            known = lanes.env.get(node.name)
            return known if known is not None else read_slot(lanes, lanes.slots[node.name])
        case d.Argument():
            return argument(lanes.code, node)
        case d.Special():
            return lanes.specials[(node.kind, node.axis)]
        case d.Op():
            arguments = [evaluate(lanes, a) for a in node.arguments]
            short = _is_short_division(lanes, node)
            return emit_exact(lanes, node.op, arguments) or apply(lanes, node.op, arguments, node.type, short)
        case d.Load():
            index = evaluate(lanes, node.index)
            mask = lanes.mask
            lanes.mask = None if _is_own(lanes, node) else mask
            got = load(lanes, lanes.code.buffers[node.buffer], index, node.type)
            lanes.mask = mask
            return got
        case _:
            assert_never(node)


def _is_own(lanes: Lanes, node: d.Load) -> bool:
    """Whether lanes that are off may load their elements as well. Behind the last lane of a range there may be none."""
    if lanes.mask is None or lanes.width == 1 or lanes.last:
        return False
    return (node.buffer, node.index) in lanes.code.own_places


def _is_short_division(lanes: Lanes, node: d.Op) -> bool:
    """Whether a division of 64-bit lanes may run in 32 bits."""
    if node.op not in ("udiv", "urem") or node.type is not Machine.I64 or lanes.width == 1:
        return False
    ranges = lanes.code.ranges
    return ranges is not None and all(ranges.is_small(a) for a in node.arguments)


def load(lanes: Lanes, buffer: BufferRef, index: Val, type: Machine) -> Val:
    memory = element_type(buffer.element)
    index = place_in(lanes, buffer, index)
    text = type_text(memory)
    if index.uniform:
        address = _address(lanes, buffer, index)
        got = Val(
            memory, lanes.w.load(f"load {text}, ptr {address}, align {memory.bits // 8}", buffer.pointer, address), 0
        )
        if memory.is_float:
            # For all lanes at once and in this block, so that the load itself broadcasts.
            vector(lanes, got)
    elif index.stride == 1 and lanes.lines and loads_lines(lanes, buffer):
        got = Val(memory, load_lines(lanes, _address(lanes, buffer, index), memory), None)
    elif index.stride == 1:
        got = Val(memory, _load_adjacent(lanes, buffer.pointer, _address(lanes, buffer, index), memory), None)
    elif index.stride in (2, 3, 4) and lanes.mask is None:
        got = Val(memory, _load_spaced(lanes, buffer, index, memory), None)
    else:
        got = picked(lanes, buffer, index) or Val(memory, _gather(lanes, buffer, index, memory), None)
    return _as_bool(lanes, got) if buffer.element is Scalar.BOOL else got


def place_in(lanes: Lanes, buffer: BufferRef, index: Val) -> Val:
    """The element's place in memory: elements of a local buffer lie apart, one row of threads each."""
    if index.type is not Machine.I64:
        index = apply(lanes, "sext", (index,), Machine.I64)
    if buffer.space is not Space.LOCAL:
        return index
    row = apply(lanes, "imul", (index, literal(buffer.pitch, Machine.I64)), Machine.I64)
    return apply(lanes, "iadd", (row, lanes.thread), Machine.I64)


def _address(lanes: Lanes, buffer: BufferRef, index: Val) -> str:
    # Not inbounds under a mask: the first lane may be off and its address then lies outside.
    inbounds = "inbounds " if lanes.mask is None or index.uniform else ""
    element = type_text(element_type(buffer.element))
    return lanes.w.emit(f"getelementptr {inbounds}{element}, ptr {buffer.pointer}, i64 {index.text}", "p")


def _addresses(lanes: Lanes, buffer: BufferRef, index: Val) -> str:
    element = type_text(element_type(buffer.element))
    return lanes.w.emit(
        f"getelementptr {element}, ptr {buffer.pointer}, <{lanes.width} x i64> {vector(lanes, index)}", "p"
    )


def _load_adjacent(lanes: Lanes, pointer: str, address: str, memory: Machine) -> str:
    text = type_text(memory, lanes.width)
    align = memory.bits // 8
    if lanes.mask is None:
        return lanes.w.load(f"load {text}, ptr {address}, align {align}", pointer, address)
    name = f"llvm.masked.load.{mangled(memory, lanes.width)}.p0"
    types = ["ptr", "i32 immarg", mask_type(lanes), text]
    lanes.w.declare(name, text, types)
    return lanes.w.emit(
        f"call {text} @{name}(ptr {address}, i32 {align}, {mask_type(lanes)} {lanes.mask}, {text} zeroinitializer)"
    )


def _load_spaced(lanes: Lanes, buffer: BufferRef, index: Val, memory: Machine) -> str:
    """Every second to fourth element: the whole stretch from the first to the last lane's, then a shuffle."""
    stride = index.stride or 1
    count = (lanes.width - 1) * stride + 1
    address = _address(lanes, buffer, index)
    stretch = type_text(memory, count)
    whole = lanes.w.load(f"load {stretch}, ptr {address}, align {memory.bits // 8}", buffer.pointer, address)
    order = ", ".join(f"i32 {k * stride}" for k in range(lanes.width))
    return lanes.w.emit(f"shufflevector {stretch} {whole}, {stretch} poison, <{lanes.width} x i32> <{order}>")


def _gather(lanes: Lanes, buffer: BufferRef, index: Val, memory: Machine) -> str:
    text, pointers = type_text(memory, lanes.width), f"<{lanes.width} x ptr>"
    name = f"llvm.masked.gather.{mangled(memory, lanes.width)}.v{lanes.width}p0"
    lanes.w.declare(name, text, [pointers, "i32 immarg", mask_type(lanes), text])
    addresses = _addresses(lanes, buffer, index)
    return lanes.w.emit(
        f"call {text} @{name}({pointers} {addresses}, i32 {memory.bits // 8}, {mask_type(lanes)} {mask_text(lanes)}, "
        f"{text} zeroinitializer)"
    )


def _as_bool(lanes: Lanes, byte: Val) -> Val:
    return apply(lanes, "ine", (byte, literal(0, Machine.I8)), Machine.I1)


def to_memory(lanes: Lanes, value: Val, element: Scalar) -> Val:
    """A value in the machine type of an element of memory."""
    memory = element_type(element)
    if value.type is memory:
        return value
    op = "zext" if value.type.bits < memory.bits else "trunc"
    return apply(lanes, op, (value,), memory)


def store(lanes: Lanes, buffer: BufferRef, index: Val, value: Val) -> None:
    memory = element_type(buffer.element)
    value = to_memory(lanes, value, buffer.element)
    index = place_in(lanes, buffer, index)
    align = memory.bits // 8
    lanes.w.stored(buffer.pointer)
    if lanes.width == 1 or (index.uniform and value.uniform):
        address = _address(lanes, buffer, index)
        lanes.w.do(f"store {type_text(memory)} {value.text}, ptr {address}, align {align}")
    elif index.stride == 1:
        _store_adjacent(lanes, buffer, _address(lanes, buffer, index), vector(lanes, value))
    else:
        _scatter(lanes, _addresses(lanes, buffer, index), vector(lanes, value), memory)


def _store_adjacent(lanes: Lanes, buffer: BufferRef, address: str, value: str) -> None:
    memory = element_type(buffer.element)
    text = type_text(memory, lanes.width)
    align = memory.bits // 8
    if lanes.mask is None:
        how = f"align {LINE}, !nontemporal !{{i32 1}}" if buffer.streamed else f"align {align}"
        lanes.w.do(f"store {text} {value}, ptr {address}, {how}")
        return
    if memory in _NARROW and lanes.width > 1:
        value = _fenced(lanes, value, memory)
    name = f"llvm.masked.store.{mangled(memory, lanes.width)}.p0"
    lanes.w.declare(name, "void", [text, "ptr", "i32 immarg", mask_type(lanes)])
    lanes.w.do(f"call void @{name}({text} {value}, ptr {address}, i32 {align}, {mask_type(lanes)} {lanes.mask})")


#: What a wider value may be cut to as it is stored.
_NARROW: Final = frozenset({Machine.I8, Machine.I16, Machine.I32})


def _fenced(lanes: Lanes, value: str, memory: Machine) -> str:
    """The value behind a fence, which costs nothing and parts the store from what cut the value.

    LLVM 22 makes one store of the two, and where it then sees a mask of one lane it writes that lane uncut, over its
    neighbours.
    """
    w, width = lanes.w, lanes.width
    whole = max(width, 32 // memory.bits)
    text = type_text(memory, whole)
    if whole > width:
        order = ", ".join(f"i32 {min(k, width)}" for k in range(whole))
        narrow = type_text(memory, width)
        value = w.emit(f"shufflevector {narrow} {value}, {narrow} poison, <{whole} x i32> <{order}>")
    floats = whole * memory.bits // 32
    name = f"llvm.arithmetic.fence.v{floats}f32"
    w.declare(name, f"<{floats} x float>", [f"<{floats} x float>"])
    held = w.emit(f"bitcast {text} {value} to <{floats} x float>")
    held = w.emit(f"call <{floats} x float> @{name}(<{floats} x float> {held})")
    value = w.emit(f"bitcast <{floats} x float> {held} to {text}")
    if whole > width:
        order = ", ".join(f"i32 {k}" for k in range(width))
        value = w.emit(f"shufflevector {text} {value}, {text} poison, <{width} x i32> <{order}>")
    return value


def _scatter(lanes: Lanes, addresses: str, value: str, memory: Machine) -> None:
    """Lanes store in their order, so the last of those that share an address wins, as in thread order."""
    text, pointers = type_text(memory, lanes.width), f"<{lanes.width} x ptr>"
    name = f"llvm.masked.scatter.{mangled(memory, lanes.width)}.v{lanes.width}p0"
    lanes.w.declare(name, "void", [text, pointers, "i32 immarg", mask_type(lanes)])
    lanes.w.do(
        f"call void @{name}({text} {value}, {pointers} {addresses}, i32 {memory.bits // 8}, "
        f"{mask_type(lanes)} {mask_text(lanes)})"
    )


def fill(lanes: Lanes, buffer: BufferRef) -> None:
    """Zero a local buffer of the lanes that are on."""
    w = lanes.w
    counter = w.alloca("i64", "fill")
    head, done = w.block("fill"), w.block("filled")
    w.do(f"store i64 0, ptr {counter}")
    w.place(head)
    element = Val(Machine.I64, w.emit(f"load i64, ptr {counter}"), 0)
    zero = Machine.I1 if buffer.element is Scalar.BOOL else element_type(buffer.element)
    store(lanes, buffer, element, literal(0, zero))
    following = w.emit(f"add i64 {element.text}, 1")
    w.do(f"store i64 {following}, ptr {counter}")
    w.branch(w.emit(f"icmp ult i64 {following}, {buffer.count}"), head, done)
    w.place(done)


__all__ = ["evaluate", "fill", "load", "place_in", "store", "to_memory", "varying"]
