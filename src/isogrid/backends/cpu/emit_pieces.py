"""Vectors of 32, 64 or more lanes as registers of 16, and back: what only instructions of one register can do."""

from collections.abc import Sequence
from typing import Final

from isogrid.backends.cpu.emit_values import Lanes, Val, splat
from isogrid.ir.device import Machine
from isogrid.printers.llvm_text import Writer, splat_text, type_text

#: Lanes of 32 bits in a register of 512.
PIECE: Final = 16


def pieces(lanes: Lanes, value: Val) -> list[str]:
    """The value as registers of 16 lanes."""
    count = lanes.width // PIECE
    if value.constant is not None:
        return [splat_text(value.text, value.type, PIECE)] * count
    if value.uniform:
        return [splat(lanes.w, value.text, value.type, PIECE)] * count
    return split(lanes.w, value.text, value.type, lanes.width)


def split(w: Writer, value: str, type: Machine, width: int) -> list[str]:
    """The registers of a vector."""
    if width == PIECE:
        return [value]
    whole = type_text(type, width)
    return [
        w.emit(f"shufflevector {whole} {value}, {whole} poison, {lane_numbers(start, PIECE)}")
        for start in range(0, width, PIECE)
    ]


def joined(w: Writer, parts: Sequence[str], type: Machine, width: int = PIECE) -> str:
    """The registers, each of `width` lanes, as one vector; their number is a power of two."""
    parts = list(parts)
    while len(parts) > 1:
        text = type_text(type, width)
        order = lane_numbers(0, 2 * width)
        parts = [
            w.emit(f"shufflevector {text} {a}, {text} {b}, {order}")
            for a, b in zip(parts[::2], parts[1::2], strict=True)
        ]
        width *= 2
    return parts[0]


def lane_numbers(start: int, count: int) -> str:
    """The order of a shuffle that takes so many lanes from one on."""
    return f"<{count} x i32> <" + ", ".join(f"i32 {start + k}" for k in range(count)) + ">"
