"""Adjacent elements as whole cache lines: each line is loaded once, and neighbours are put together by permutes.

A register of elements that begins inside a line takes two accesses of the first cache, and NumPy's larger arrays begin
16 bytes behind a line. Several registers in a row take one access each, and one more (decision 0053).
"""

import itertools
from typing import Final

from isogrid.backends.cpu.emit_pieces import PIECE, joined
from isogrid.backends.cpu.emit_values import BufferRef, Lanes
from isogrid.backends.cpu.layout import LINE
from isogrid.ir.device import Machine
from isogrid.ir.types import Space
from isogrid.printers.llvm_text import element_type, type_text

#: A line is a register of as many elements as have lanes: permutes of two registers have this many.
_BITS: Final = 8 * LINE // PIECE
_FLOATS: Final = type_text(Machine.F32, PIECE)
_WORDS: Final = type_text(Machine.I32, PIECE)


def loads_lines(lanes: Lanes, buffer: BufferRef) -> bool:
    """Whether adjacent elements of a buffer, all lanes on, may be loaded so."""
    width = element_type(buffer.element).bits
    return buffer.space is Space.GLOBAL and width == _BITS and lanes.mask is None and lanes.width > PIECE


def load_lines(lanes: Lanes, address: str, memory: Machine) -> str:
    """The elements from `address` on. No line is touched that holds none of them."""
    w = lanes.w
    low = w.call("llvm.ptrmask.p0.i64", "ptr", ["ptr", "i64"], [address, str(-LINE)])
    last = w.emit(f"getelementptr i8, ptr {address}, i64 {LINE - 1}", "p")
    high = w.call("llvm.ptrmask.p0.i64", "ptr", ["ptr", "i64"], [last, str(-LINE)])
    order, count = _order(lanes, address), lanes.width // PIECE
    places = [w.emit(f"getelementptr i8, ptr {low}, i64 {number * LINE}", "p") for number in range(count)]
    # The line of the last element, which is the one before where the elements begin a line.
    places.append(w.emit(f"getelementptr i8, ptr {high}, i64 {(count - 1) * LINE}", "p"))
    lines = [w.emit(f"load {_FLOATS}, ptr {place}, align {LINE}") for place in places]
    types = [_FLOATS, _WORDS, _FLOATS]
    parts = [
        w.call("llvm.x86.avx512.vpermi2var.ps.512", _FLOATS, types, [line, order, next])
        for line, next in itertools.pairwise(lines)
    ]
    whole = joined(w, parts, Machine.F32)
    if memory is Machine.F32:
        return whole
    return w.emit(f"bitcast {type_text(Machine.F32, lanes.width)} {whole} to {type_text(memory, lanes.width)}")


def _order(lanes: Lanes, address: str) -> str:
    """Which elements of two lines in a row the first register takes: 0 to 15 where it begins a line."""
    w = lanes.w
    number = w.emit(f"ptrtoint ptr {address} to i64")
    bytes = w.emit(f"and i64 {number}, {LINE - 1}")
    skipped = w.emit(f"lshr i64 {bytes}, {(_BITS // 8).bit_length() - 1}")
    small = w.emit(f"trunc i64 {skipped} to i32")
    one = w.emit(f"insertelement {_WORDS} poison, i32 {small}, i64 0")
    all = w.emit(f"shufflevector {_WORDS} {one}, {_WORDS} poison, <{PIECE} x i32> zeroinitializer")
    return w.emit(f"add {_WORDS} {all}, <" + ", ".join(f"i32 {k}" for k in range(PIECE)) + ">")
