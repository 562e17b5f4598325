"""Loads of lanes from small constant tables: the table lies in one or two registers, and a permute picks its elements.

c[index], 32 elements of f32, 16 lanes   ->   vpermi2ps   one instruction instead of a gather of 16 elements
"""

from typing import Final

from isogrid.backends.cpu.emit_pieces import PIECE, joined, lane_numbers
from isogrid.backends.cpu.emit_values import BufferRef, Lanes, Val, apply, vector
from isogrid.ir.device import Machine
from isogrid.ir.types import Space
from isogrid.printers.llvm_text import Writer, element_type, type_text

#: What two registers hold: the most elements of 32 bits that AVX-512 permutes.
_MOST: Final = 2 * PIECE


def fits_registers(space: Space, bits: int, count: int | None) -> bool:
    """Whether a table is one that permutes can read, where the machine has them."""
    return space is Space.TABLE and bits == 32 and count in (PIECE, _MOST)


def permuted(lanes: Lanes, buffer: BufferRef, index: Val) -> Val | None:
    """The elements at an index that varies, or None where memory has to be read.

    The index is in range, so its low bits alone count: the permutes take no others.
    """
    memory = element_type(buffer.element)
    if not lanes.code.permutes or lanes.width % PIECE or not fits_registers(buffer.space, memory.bits, buffer.count):
        return None
    w, count = lanes.w, buffer.count or 0
    places = vector(lanes, apply(lanes, "trunc", (index,), Machine.I32) if index.type.bits > 32 else index)
    tables = [_register(w, buffer, memory, start) for start in range(0, count, PIECE)]
    parts = [_pick(w, memory, tables, places, lanes.width, start) for start in range(0, lanes.width, PIECE)]
    return Val(memory, joined(w, parts, memory), None)


def _register(w: Writer, buffer: BufferRef, memory: Machine, start: int) -> str:
    """Sixteen elements of the table. Tables are constant, so LLVM loads them once, before the loop."""
    address = buffer.pointer
    if start:
        address = w.emit(f"getelementptr {type_text(memory)}, ptr {buffer.pointer}, i64 {start}", "p")
    return w.emit(f"load {type_text(memory, PIECE)}, ptr {address}, align 4")


def _pick(w: Writer, memory: Machine, tables: list[str], places: str, width: int, start: int) -> str:
    whole, text, words = type_text(Machine.I32, width), type_text(memory, PIECE), type_text(Machine.I32, PIECE)
    if width != PIECE:
        places = w.emit(f"shufflevector {whole} {places}, {whole} poison, {lane_numbers(start, PIECE)}")
    if len(tables) == 1:
        name = f"llvm.x86.avx512.permvar.{'sf' if memory is Machine.F32 else 'si'}.512"
        return w.call(name, text, [text, words], [tables[0], places])
    name = f"llvm.x86.avx512.vpermi2var.{'ps' if memory is Machine.F32 else 'd'}.512"
    return w.call(name, text, [text, words, text], [tables[0], places, tables[1]])
