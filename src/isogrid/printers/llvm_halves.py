"""f16 and bf16 in LLVM text: exact sequences on integers, and the target's own f16 instructions where it has them.

LLVM's `fptrunc` to `half` and `bfloat` is a call of a library on many processors, and some of their instructions for
bf16 flush subnormals, so that only those between f32 and f16 are used, and only where the target says so.
"""

from isogrid.ir.device import Machine
from isogrid.printers.llvm_text import Writer, literal_text, splat_text, type_text

_EXPONENT = 0x7F800000
_MAGNITUDE = 0x7FFFFFFF


def stored_float(w: Writer, op: str, value: str, width: int) -> str:
    """One of `f16_value f16_bits bf16_value bf16_bits` on one value or on a vector of lanes."""
    pen = _Pen(w, width)
    match op:
        case "f16_value":
            return pen.wide_half(value) if w.converts_halves else pen.half_value(value)
        case "f16_bits":
            return pen.narrow_half(value) if w.converts_halves else pen.half_bits(value)
        case "bf16_value":
            return pen.as_float(pen.combined("shl", pen.word(value), 16))
        case "bf16_bits":
            return pen.bfloat_bits(value)
        case _:
            raise KeyError(op)


class _Pen:
    """Writes instructions on words of 32 bits, one or a vector of them."""

    def __init__(self, w: Writer, width: int) -> None:
        self.w, self.width = w, width
        self.words, self.floats = type_text(Machine.I32, width), type_text(Machine.F32, width)
        self.shorts, self.truths = type_text(Machine.I16, width), type_text(Machine.I1, width)
        self.halves = "half" if width == 1 else f"<{width} x half>"

    # --- the target's instructions -----------------------------------------------------------------------------------

    def wide_half(self, bits: str) -> str:
        half = self.w.emit(f"bitcast {self.shorts} {bits} to {self.halves}")
        return self.w.emit(f"fpext {self.halves} {half} to {self.floats}")

    def narrow_half(self, value: str) -> str:
        """A NaN keeps a payload or gets another one, by target."""
        half = self.w.emit(f"fptrunc {self.floats} {value} to {self.halves}")
        bits = self.w.emit(f"bitcast {self.halves} {half} to {self.shorts}")
        canonical = splat_text(str(0x7E00), Machine.I16, self.width)
        return self.w.emit(
            f"select {self.truths} {self.is_nan(value)}, {self.shorts} {canonical}, {self.shorts} {bits}"
        )

    # --- sequences ---------------------------------------------------------------------------------------------------

    def half_value(self, bits: str) -> str:
        """A normal number's fraction and exponent move up by 13 bits and 112; a subnormal one is a count of 2^-24."""
        word = self.word(bits)
        magnitude = self.combined("and", word, 0x7FFF)
        moved = self.combined("shl", magnitude, 13)
        normal = self.combined("add", moved, (127 - 15) << 23)
        special = self.combined("or", moved, _EXPONENT)
        count = self.w.emit(f"uitofp {self.words} {magnitude} to {self.floats}")
        subnormal = self.as_word(self.w.emit(f"fmul {self.floats} {count}, {self.float_constant(0x33800000)}"))
        found = self.choose(self.test("ult", magnitude, 0x400), subnormal, normal)
        found = self.choose(self.test("uge", magnitude, 0x7C00), special, found)
        sign = self.combined("shl", self.combined("and", word, 0x8000), 16)
        return self.as_float(self.w.emit(f"or {self.words} {found}, {sign}"))

    def half_bits(self, value: str) -> str:
        """A normal result rounds by an addition below its last bit, whose carry may enter the exponent; a subnormal one
        is rounded by adding 0.5, whose last bit is 2^-24. What is not below 65520 is infinite."""
        word = self.as_word(value)
        magnitude = self.combined("and", word, _MAGNITUDE)
        last = self.combined("and", self.combined("lshr", magnitude, 13), 1)
        rounded = self.w.emit(f"add {self.words} {self.combined('add', magnitude, 0xFFF - ((127 - 15) << 23))}, {last}")
        normal = self.combined("lshr", rounded, 13)
        total = self.w.emit(f"fadd {self.floats} {self.as_float(magnitude)}, {self.float_constant(0x3F000000)}")
        subnormal = self.combined("sub", self.as_word(total), 0x3F000000)
        found = self.choose(self.test("ult", magnitude, 0x38800000), subnormal, normal)
        found = self.choose(self.test("uge", magnitude, 0x477FF000), self.constant(0x7C00), found)
        sign = self.combined("and", self.combined("lshr", word, 16), 0x8000)
        found = self.w.emit(f"or {self.words} {found}, {sign}")
        return self.short(self.choose(self.is_nan(value), self.constant(0x7E00), found))

    def bfloat_bits(self, value: str) -> str:
        """The upper half of the f32, rounded by an addition below it; a carry out of the fraction is right as it is."""
        word = self.as_word(value)
        last = self.combined("and", self.combined("lshr", word, 16), 1)
        rounded = self.w.emit(f"add {self.words} {self.combined('add', word, 0x7FFF)}, {last}")
        upper = self.combined("lshr", rounded, 16)
        return self.short(self.choose(self.is_nan(value), self.constant(0x7FC0), upper))

    # --- words -------------------------------------------------------------------------------------------------------

    def word(self, bits: str) -> str:
        return self.w.emit(f"zext {self.shorts} {bits} to {self.words}")

    def short(self, word: str) -> str:
        return self.w.emit(f"trunc {self.words} {word} to {self.shorts}")

    def as_word(self, value: str) -> str:
        return self.w.emit(f"bitcast {self.floats} {value} to {self.words}")

    def as_float(self, word: str) -> str:
        return self.w.emit(f"bitcast {self.words} {word} to {self.floats}")

    def combined(self, instruction: str, word: str, constant: int) -> str:
        return self.w.emit(f"{instruction} {self.words} {word}, {self.constant(constant)}")

    def test(self, condition: str, word: str, constant: int) -> str:
        return self.w.emit(f"icmp {condition} {self.words} {word}, {self.constant(constant)}")

    def choose(self, condition: str, then: str, otherwise: str) -> str:
        return self.w.emit(f"select {self.truths} {condition}, {self.words} {then}, {self.words} {otherwise}")

    def is_nan(self, value: str) -> str:
        return self.w.emit(f"fcmp uno {self.floats} {value}, {value}")

    def constant(self, number: int) -> str:
        return splat_text(literal_text(number % (1 << 32), Machine.I32), Machine.I32, self.width)

    def float_constant(self, bits: int) -> str:
        return splat_text(literal_text(bits, Machine.F32), Machine.F32, self.width)
