"""Constant tables of the author, as arrays of literals that have the bits of the table."""

from isogrid.ir.device import Buffer
from isogrid.printers.c_family_names import Names
from isogrid.printers.c_family_spelling import Spelling
from isogrid.printers.c_family_text import CType, element_type, float_literal, integer_literal

_LINE = 100


def table_text(spelling: Spelling, names: Names, buffer: Buffer) -> str:
    """The declaration of one table."""
    type = element_type(buffer.element)
    size = type.bits // 8
    words = [int.from_bytes(buffer.data[k : k + size], "little") for k in range(0, len(buffer.data), size)]
    values = [_value(spelling, word, type) for word in words]
    head = spelling.table_array.format(type=type.value, name=names.give("buffer", buffer.name), count=buffer.count)
    return f"{head} = {{\n{_lines(values)}\n}};"


def _value(spelling: Spelling, word: int, type: CType) -> str:
    if type.is_float:
        found = float_literal(word, type)
        return found.text if found is not None else _special(spelling, word, type)
    if type.is_signed and word >> (type.bits - 1):
        word -= 1 << type.bits
    return integer_literal(word, type).text


def _special(spelling: Spelling, word: int, type: CType) -> str:
    """Infinities and NaN, as constants of the language; a table's NaN are all one value."""
    if word << 1 & ((1 << type.bits) - 1) == (0xFF000000 if type is CType.F32 else 0xFFE0000000000000):
        return f"-{spelling.constants['infinity']}" if word >> (type.bits - 1) else spelling.constants["infinity"]
    return spelling.constants["nan"]


def _lines(values: list[str]) -> str:
    lines: list[str] = []
    line = "   "
    for value in values:
        if len(line) + len(value) + 2 > _LINE:
            lines.append(line)
            line = "   "
        line += f" {value},"
    return "\n".join([*lines, line])
