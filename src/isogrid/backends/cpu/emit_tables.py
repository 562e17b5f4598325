"""Loads of lanes from small constant tables without gathers: permutes of registers, or rows that hold several tables.

c[index], 32 elements of f32, 16 lanes   ->   vpermi2ps   one instruction instead of a gather of 16 elements
c[index], 16 elements of f32, 8 lanes    ->   two vpermps and a choice between them by bit 3 of the index (four for 32)
c[index], e[index], ..., 8 lanes         ->   vmovups of 16 bytes for each lane, transposed: `table_rows`
"""

from typing import Final

from isogrid.backends.cpu.emit_pieces import joined, lane_numbers
from isogrid.backends.cpu.emit_values import BufferRef, Column, Lanes, Val, apply, vector
from isogrid.backends.cpu.table_rows import QUAD, permuted_counts
from isogrid.ir.device import Machine
from isogrid.ir.types import Space
from isogrid.printers.llvm_text import Writer, element_type, type_text

#: Lanes that are read from rows at once: two quads side by side in a register.
_EIGHT: Final = 8


def picked(lanes: Lanes, buffer: BufferRef, index: Val) -> Val | None:
    """The elements at an index that varies, or None where they have to be gathered.

    The index is in range, and where a lane is off it may be anything: its low bits alone count.
    """
    memory, each, count = element_type(buffer.element), lanes.code.table_lanes, buffer.count or 0
    if not each or lanes.width % each or buffer.space is not Space.TABLE or memory.bits != 32:
        return None
    w = lanes.w
    if buffer.column is None and count not in permuted_counts(each):
        return None
    places = vector(lanes, apply(lanes, "trunc", (index,), Machine.I32) if index.type.bits > 32 else index)
    starts = range(0, lanes.width, each)
    if buffer.column is not None:
        parts = [_from_rows(w, buffer.column, count, _part(w, places, lanes.width, start, each)) for start in starts]
        return Val(memory, _as(w, joined(w, parts, Machine.F32, each), memory, lanes.width), None)
    tables = [_register(w, buffer, memory, start, each) for start in range(0, count, each)]
    parts = [_permuted(w, memory, tables, _part(w, places, lanes.width, start, each), each) for start in starts]
    return Val(memory, joined(w, parts, memory, each), None)


def _register(w: Writer, buffer: BufferRef, memory: Machine, start: int, each: int) -> str:
    """Elements of the table that fill a register. Tables are constant, so LLVM loads them once, before the loop."""
    address = buffer.pointer
    if start:
        address = w.emit(f"getelementptr {type_text(memory)}, ptr {buffer.pointer}, i64 {start}", "p")
    return w.emit(f"load {type_text(memory, each)}, ptr {address}, align 4")


def _part(w: Writer, places: str, width: int, start: int, each: int) -> str:
    """The places of the lanes of one register."""
    if width == each:
        return places
    whole = type_text(Machine.I32, width)
    return w.emit(f"shufflevector {whole} {places}, {whole} poison, {lane_numbers(start, each)}")


def _permuted(w: Writer, memory: Machine, tables: list[str], places: str, each: int) -> str:
    text, words = type_text(memory, each), type_text(Machine.I32, each)
    letter = "s" if memory is Machine.F32 else "d"
    if each == _EIGHT:
        name = f"llvm.x86.avx2.perm{letter}" if letter == "d" else "llvm.x86.avx2.permps"
        found = [w.call(name, text, [text, words], [table, places]) for table in tables]
        shift = 28
        while len(found) > 1:
            sign = w.emit(f"shl {words} {places}, splat (i32 {shift})")
            found = [_either(w, memory, found[k : k + 2], sign) for k in range(0, len(found), 2)]
            shift -= 1
        return found[0]
    if len(tables) == 1:
        name = f"llvm.x86.avx512.permvar.{'sf' if memory is Machine.F32 else 'si'}.512"
        return w.call(name, text, [text, words], [tables[0], places])
    name = f"llvm.x86.avx512.vpermi2var.{'ps' if memory is Machine.F32 else 'd'}.512"
    return w.call(name, text, [text, words, text], [tables[0], places, tables[1]])


def _either(w: Writer, memory: Machine, found: list[str], sign: str) -> str:
    """The second where the sign of a lane is set: as an instruction, since LLVM makes a mask of a comparison first."""
    floats, words = type_text(Machine.F32, _EIGHT), type_text(Machine.I32, _EIGHT)
    name, mask = "llvm.x86.avx.blendv.ps.256", w.emit(f"bitcast {words} {sign} to {floats}")
    both = found if memory is Machine.F32 else [w.emit(f"bitcast {words} {part} to {floats}") for part in found]
    return _as(w, w.call(name, floats, [floats] * 3, [*both, mask]), memory, _EIGHT)


def _from_rows(w: Writer, column: Column, count: int, places: str) -> str:
    """The column's elements for eight lanes, as f32: the quads of lanes k and k + 4 share a register, and what the
    columns of a quad have in common is written once."""
    words, four, eight = "<8 x i32>", "<4 x float>", "<8 x float>"
    inside = w.emit(f"and {words} {places}, splat (i32 {count - 1})")
    offsets = w.emit(f"mul {words} {inside}, splat (i32 {4 * column.width})")
    # Two lanes leave the vector together.
    doubles = w.emit(f"bitcast {words} {offsets} to <4 x i64>")
    addresses: list[str] = []
    base = column.pointer
    if column.at >= QUAD:
        base = w.emit(f"getelementptr i8, ptr {column.pointer}, i64 {column.at // QUAD * QUAD * 4}", "p")
    for pair in range(4):
        both = w.emit(f"extractelement <4 x i64> {doubles}, i64 {pair}")
        for half in (w.emit(f"and i64 {both}, 4294967295"), w.emit(f"lshr i64 {both}, 32")):
            addresses.append(w.emit(f"getelementptr i8, ptr {base}, i64 {half}", "p"))
    quads = [w.load(f"load {four}, ptr {address}, align 16", base, address) for address in addresses]
    order = lane_numbers(0, _EIGHT)
    sides = [
        w.emit(f"shufflevector {four} {low}, {four} {high}, {order}")
        for low, high in zip(quads[:4], quads[4:], strict=True)
    ]
    at = column.at % QUAD
    upper = (at // 2) * 2
    pick = _order(upper, upper + 8, upper + 1, upper + 9)
    pairs = [w.emit(f"shufflevector {eight} {a}, {eight} {b}, {pick}") for a, b in (sides[:2], sides[2:])]
    first = (at % 2) * 2
    return w.emit(
        f"shufflevector {eight} {pairs[0]}, {eight} {pairs[1]}, {_order(first, first + 1, first + 8, first + 9)}"
    )


def _order(*four: int) -> str:
    """The order of a shuffle that does the same in both halves of a register."""
    return "<8 x i32> <" + ", ".join(f"i32 {k}" for k in (*four, *(k + 4 for k in four))) + ">"


def _as(w: Writer, value: str, memory: Machine, width: int) -> str:
    if memory is Machine.F32:
        return value
    return w.emit(f"bitcast {type_text(Machine.F32, width)} {value} to {type_text(memory, width)}")
