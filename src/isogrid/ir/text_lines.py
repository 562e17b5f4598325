"""What the text of both IRs has in common: names, numbers, headers, lines that know their place."""

import json
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from isogrid.diagnostics.span import NOWHERE, Span
from isogrid.ir import device as d
from isogrid.ir import kernel as k

_PLAIN_NAME: Final = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_FORMATS: Final = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of IR text and the place in the author's source that it comes from."""

    text: str
    span: Span = NOWHERE


def header_lines(kernel: k.Kernel | d.Kernel, expr: Callable[[k.Expr], str]) -> Iterator[TextLine]:
    """The part that both IRs share: name, dimensions, parameters, geometry, preconditions."""
    grouped = " grouped" if kernel.grouped else ""
    warp = f" warp {kernel.warp}" if kernel.warp != 32 else ""
    yield TextLine(f"kernel {name_text(kernel.name)}{grouped}{warp}{_contract(kernel)}", kernel.span)
    if kernel.dims:
        yield TextLine("  dims " + ", ".join(name_text(dim) for dim in kernel.dims))
    for parameter in kernel.parameters:
        match parameter:
            case k.ScalarParameter(name, scalar):
                yield TextLine(f"  scalar {name_text(name)}: {scalar.value}", parameter.span)
            case k.ArrayParameter(name, element, shape, access):
                extents = ", ".join(expr(e) for e in shape)
                text = f"  {access.value} {name_text(name)}: {element.value}[{extents}]"
                yield TextLine(text, parameter.span)
    yield TextLine(f"  {kernel.geometry.kind} " + ", ".join(expr(e) for e in kernel.geometry.extents))
    yield TextLine("  block " + ", ".join(str(extent) for extent in kernel.geometry.block))
    for require in kernel.requires:
        yield TextLine(f"  require {expr(require.condition)}, {string_text(require.text)}", require.span)


def _contract(kernel: k.Kernel | d.Kernel) -> str:
    """What the author gave up: one result for every order, or the proof that threads do not race."""
    text = "" if kernel.deterministic else " nondeterministic"
    if kernel.races == "prove":
        return text
    return f"{text} races {kernel.races}" + (f" {string_text(kernel.reason)}" if kernel.reason else "")


def name_text(name: str) -> str:
    """A name as it is, or in backquotes where it is not a plain dotted one."""
    return name if _PLAIN_NAME.fullmatch(name) else f"`{name}`"


def string_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def float_text(bits: int, width: int) -> str:
    """The shortest decimal that gives these bits back; NaNs are written as bits."""
    as_float, as_bits = _FORMATS[width]
    value: float = struct.unpack(as_float, struct.pack(as_bits, bits))[0]
    if value != value:
        return f"0x{bits:0{width // 4}x}"
    if value in (float("inf"), float("-inf")):
        return "+inf" if value > 0 else "-inf"
    return next(text for digits in range(1, 18) if float_bits(text := _decimal(value, digits), width) == bits)


def float_bits(text: str, width: int) -> int:
    """The bits that a decimal of `float_text` stands for."""
    as_float, as_bits = _FORMATS[width]
    try:
        return struct.unpack(as_bits, struct.pack(as_float, float(text)))[0]
    except OverflowError:  # a short decimal of a large value may round above the largest float
        return -1


def _decimal(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    return text if "." in text or "e" in text else f"{text}.0"
