"""Atomic updates. A checked sum that wraps is noted: an event of the watch for arrays, a counter for shared memory."""

from collections.abc import Callable

from isogrid.backends.cuda.emit_address import Linear
from isogrid.backends.cuda.emit_code import (
    SHARED_POINTER,
    BufferRef,
    Code,
    Gathered,
    address,
    element_address,
    evaluate,
    read_variable,
    to_memory,
    write_variable,
)
from isogrid.backends.cuda.emit_trap import note_wrapped
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar, Space
from isogrid.printers.llvm_ops import Shape, operation
from isogrid.printers.llvm_text import element_type, type_text

_DIRECT = {"add": "add", "and": "and", "or": "or", "xor": "xor", "exchange": "xchg"}
_RARE = ', !prof !{!"branch_weights", i32 1, i32 1000000}'
_SCOPES = {Space.GLOBAL: 'syncscope("device")', Space.SHARED: 'syncscope("block")'}


def emit_atomic(code: Code, node: d.Atomic) -> None:
    buffer = code.buffers[node.buffer]
    memory = element_type(node.element)
    expected = None
    if node.expected is not None:
        expected = to_memory(code, evaluate(code, node.expected), node.expected.type, memory)
    value = to_memory(code, evaluate(code, node.value), node.value.type, memory)
    if id(node) in code.gathered:
        _gather(code, node, code.gathered[id(node)], value)
        return
    old = _update(code, node, buffer, address(code, buffer, node.index), value, expected)
    code.w.stored(buffer.pointer)
    if node.total is not None:
        _watch(code, node, buffer, old, value, lambda: _index(code, node))
    if node.target:
        result = code.variables[node.target].type
        narrow = memory is Machine.I8 and result is Machine.I1
        write_variable(code, node.target, code.w.emit(f"icmp ne i8 {old}, 0") if narrow else old)


def _update(code: Code, node: d.Atomic, buffer: BufferRef, at: str, value: str, expected: str | None) -> str:
    """The element as it was; nothing for a store."""
    w, memory = code.w, element_type(node.element)
    text, where = type_text(memory), f"{buffer.pointer_type} {at}"
    if buffer.space is Space.LOCAL:
        return _alone(code, node, where, value, expected)
    scope = _SCOPES[buffer.space]
    align = memory.bits // 8
    if expected is not None:
        return _exchange_if(code, where, value, expected, memory, scope)
    match node.op:
        case "load":
            return w.emit(f"load atomic {text}, {where} {scope} monotonic, align {align}")
        case "store":
            w.do(f"store atomic {text} {value}, {where} {scope} monotonic, align {align}")
            return ""
        case "min" | "max":
            name = extreme(node.op, node.element)
        case "add" if memory.is_float:
            name = "fadd"
        case _:
            name = _DIRECT[node.op]
    return w.emit(f"atomicrmw {name} {where}, {text} {value} {scope} monotonic")


def extreme(op: str, element: Scalar) -> str:
    """LLVM's name of an atomic minimum or maximum."""
    if element.is_float:
        return f"f{op}imum"
    return op if element.is_signed else f"u{op}"


def _exchange_if(code: Code, where: str, value: str, expected: str, memory: Machine, scope: str) -> str:
    """Compare and exchange by bits."""
    w, integer = code.w, f"i{memory.bits}"
    if memory.is_float:
        value = w.emit(f"bitcast {type_text(memory)} {value} to {integer}")
        expected = w.emit(f"bitcast {type_text(memory)} {expected} to {integer}")
    pair = w.emit(f"cmpxchg {where}, {integer} {expected}, {integer} {value} {scope} monotonic monotonic")
    old = w.emit(f"extractvalue {{{integer}, i1}} {pair}, 0")
    return w.emit(f"bitcast {integer} {old} to {type_text(memory)}") if memory.is_float else old


def _alone(code: Code, node: d.Atomic, where: str, value: str, expected: str | None) -> str:
    """An update of memory that only this thread sees."""
    w, memory = code.w, element_type(node.element)
    text = type_text(memory)
    old = w.emit(f"load {text}, {where}")
    match node.op:
        case "load":
            return old
        case "store" | "exchange":
            new = value
        case "cas":
            compare = "fcmp oeq" if memory.is_float else "icmp eq"
            same = w.emit(f"{compare} {text} {old}, {expected}")
            new = w.emit(f"select i1 {same}, {text} {value}, {text} {old}")
        case "min" | "max":
            sign = "f" if memory.is_float else "s" if node.element.is_signed else "u"
            new = operation(w, f"{sign}{node.op}", [old, value], memory, memory, Shape())
        case _:
            letter = "f" if memory.is_float else "i"
            new = operation(w, f"{letter}{node.op}", [old, value], memory, memory, Shape())
    w.do(f"store {text} {new}, {where}")
    return old


def _index(code: Code, node: d.Atomic) -> str:
    index = evaluate(code, node.index)
    if node.index.type is not Machine.I64:
        index = code.w.emit(f"sext {type_text(node.index.type)} {index} to i64")
    return index


def _gather(code: Code, node: d.Atomic, kept: Gathered, value: str) -> None:
    """Add to the sum that this thread keeps; where that would leave its type, it goes to memory first."""
    w, text = code.w, type_text(kept.total.type)
    w.do(f"store i64 {_index(code, node)}, ptr {kept.element.pointer}")
    sum = read_variable(code, kept.total)
    if node.total is not None:
        full, room = w.block("full"), w.block("room")
        w.branch(_leaves(code, node, sum, value), full, room, _RARE)
        w.place(full)
        flush(code, node)
        w.do(f"store {text} 0, ptr {kept.total.pointer}")
        w.place(room)
        sum = read_variable(code, kept.total)
    w.do(f"store {text} {w.emit(f'add {text} {sum}, {value}')}, ptr {kept.total.pointer}")


def flush(code: Code, node: d.Atomic) -> None:
    """Add what this thread has kept to memory."""
    w, kept, buffer = code.w, code.gathered[id(node)], code.buffers[node.buffer]
    text, value = type_text(kept.total.type), read_variable(code, kept.total)
    some, none = w.block("kept"), w.block("added")
    w.branch(w.emit(f"icmp ne {text} {value}, 0"), some, none)
    w.place(some)
    element = read_variable(code, kept.element)
    at = element_address(code, buffer, Linear(((element, 1),)))
    old = _update(code, node, buffer, at, value, None)
    code.w.stored(buffer.pointer)
    if node.total is not None:
        _watch(code, node, buffer, old, value, lambda: element)
    w.place(none)


def _leaves(code: Code, node: d.Atomic, old: str, value: str) -> str:
    """Whether a sum leaves its type."""
    memory = element_type(node.element)
    name = "sadd_overflows" if node.element.is_signed else "uadd_overflows"
    return operation(code.w, name, [old, value], memory, memory, Shape())


def _watch(code: Code, node: d.Atomic, buffer: BufferRef, old: str, value: str, index_of: Callable[[], str]) -> None:
    """Note a sum that left its type, upward or downward."""
    w, memory = code.w, element_type(node.element)
    text, signed = type_text(memory), node.element.is_signed
    noted, done = w.block("wrapped"), w.block("in.range")
    w.branch(_leaves(code, node, old, value), noted, done, _RARE)
    w.place(noted)
    index = index_of()
    downward = w.emit(f"icmp slt {text} {value}, 0") if signed else "false"
    if buffer.space is Space.GLOBAL:
        number = next(n for n, p in enumerate(code.kernel.parameters) if p.name == node.buffer)
        note_wrapped(code, number, downward, index)
    else:
        change = w.emit(f"select i1 {downward}, i32 -1, i32 1")
        at = w.emit(f"getelementptr inbounds i32, {SHARED_POINTER} {buffer.counters}, i64 {index}", "p")
        w.do(f'{w.name()} = atomicrmw add {SHARED_POINTER} {at}, i32 {change} syncscope("block") monotonic')
        w.do(f"store i1 true, ptr {code.variables[code.wrapped].pointer}")
    w.place(done)
