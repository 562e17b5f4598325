"""Spelling of LLVM IR: types, literals as bits, and a writer that names values and keeps allocas in the entry block."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar

_MACHINE = {
    Machine.I1: "i1",
    Machine.I8: "i8",
    Machine.I16: "i16",
    Machine.I32: "i32",
    Machine.I64: "i64",
    Machine.F32: "float",
    Machine.F64: "double",
}


def type_text(type: Machine, width: int = 1) -> str:
    """`float` for one value, `<16 x float>` for sixteen lanes."""
    name = _MACHINE[type]
    return name if width == 1 else f"<{width} x {name}>"


def mangled(type: Machine, width: int = 1) -> str:
    """The suffix of an overloaded intrinsic: `f32`, `v16f32`."""
    name = type.value
    return name if width == 1 else f"v{width}{name}"


def element_type(element: Scalar) -> Machine:
    """The machine type of an array element in memory; a bool is a byte, f16 and bf16 are their bits."""
    if element in (Scalar.F32, Scalar.F64):
        return Machine.F32 if element is Scalar.F32 else Machine.F64
    return {8: Machine.I8, 16: Machine.I16, 32: Machine.I32, 64: Machine.I64}[element.bits]


def literal_text(bits: int, type: Machine) -> str:
    """A constant by its bits. LLVM writes an f32 as the f64 of equal value, so NaN payloads are moved by hand."""
    match type:
        case Machine.I1:
            return "true" if bits & 1 else "false"
        case Machine.I8 | Machine.I16 | Machine.I32 | Machine.I64:
            return str(bits & ((1 << type.bits) - 1))
        case Machine.F32:
            return f"0x{_widened_bits(bits):016X}"
        case Machine.F64:
            return f"0x{bits:016X}"


def _widened_bits(bits: int) -> int:
    sign, exponent, fraction = bits >> 31, (bits >> 23) & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        wide = 0x7FF
    elif exponent:
        wide = exponent - 127 + 1023
    elif fraction == 0:
        wide = 0
    else:
        shift = 24 - fraction.bit_length()
        fraction = (fraction << shift) & 0x7FFFFF
        wide = 1 - shift - 127 + 1023
    return sign << 63 | wide << 52 | fraction << 29


def splat_text(scalar: str, type: Machine, width: int) -> str:
    """A constant in all lanes."""
    return scalar if width == 1 else f"splat ({type_text(type)} {scalar})"


#: Instructions whose result may differ the next time.
_IMPURE = frozenset({"load", "call", "phi", "atomicrmw", "cmpxchg", "alloca"})


@dataclass(slots=True)
class Writer:
    """One function being written: instructions in order, allocas apart, names that never repeat.

    `converts_halves` says that the target has exact instructions between f32 and f16, `register_bits` how wide the
    vector registers are that empty `asm` statements may name ("v"; 0 for none). `minima_by_bits` says that a minimum is
    best made of two comparisons.
    `open` is False after a terminator; what is then written until the next label can never run and is dropped.
    """

    lines: list[str] = field(default_factory=list[str])
    allocas: list[str] = field(default_factory=list[str])
    declarations: dict[str, str] = field(default_factory=dict[str, str])
    constants: list[str] = field(default_factory=list[str])
    converts_halves: bool = False
    minima_by_bits: bool = False
    register_bits: int = 0
    open: bool = True
    #: Results of pure instructions of the present block by their text, and of loads by pointer, address and type.
    known: dict[str, str] = field(default_factory=dict[str, str])
    loaded: dict[tuple[str, str, str], str] = field(default_factory=dict[tuple[str, str, str], str])
    #: Values of the present block as even and odd lanes of 64 bits: `llvm_products`. Vectors whose lanes are all equal.
    pairs: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    splats: set[str] = field(default_factory=set[str])
    _count: int = 0
    _line: int = 0

    def name(self, stem: str = "v") -> str:
        self._count += 1
        return f"%{stem}.{self._count}"

    def block(self, stem: str) -> str:
        """A label that is not placed yet, without its percent sign."""
        self._count += 1
        return f"{stem}.{self._count}"

    def emit(self, text: str, stem: str = "v") -> str:
        """Write `%new = text` and give the new name, or the name that this block already has for the same text."""
        pure = text.split(" ", 1)[0] not in _IMPURE
        if pure and text in self.known:
            return self.known[text]
        result = self.name(stem)
        self.do(f"{result} = {text}")
        if pure:
            self.known[text] = result
        return result

    def load(self, text: str, pointer: str, address: str) -> str:
        """`text` loads from `address` in the array at `pointer`; the same load twice is one, up to the next store."""
        key = (pointer, address, text)
        if key not in self.loaded:
            self.loaded[key] = self.emit(text)
        return self.loaded[key]

    def stored(self, pointer: str) -> None:
        """Something was written to the array at `pointer`, which no other array overlaps."""
        for key in [k for k in self.loaded if k[0] == pointer]:
            del self.loaded[key]

    def do(self, text: str) -> None:
        if self.open:
            self.lines.append("  " + text)

    def mark(self, line: int) -> None:
        """Note that what follows comes from this line of the author's source, for people who read the text."""
        if self.open and line > 0 and line != self._line:
            self.lines.append(f"  ; line {line}")
            self._line = line

    def place(self, label: str) -> None:
        """Start the block `label`, falling into it from the block before."""
        self.jump(label)
        self.lines.append(f"{label}:")
        self.open = True
        self.known.clear()
        self.loaded.clear()
        self.pairs.clear()

    def jump(self, label: str) -> None:
        self.do(f"br label %{label}")
        self.open = False

    def branch(self, condition: str, then: str, otherwise: str, weights: str = "") -> None:
        if condition in ("true", "false"):
            self.jump(then if condition == "true" else otherwise)
            return
        self.do(f"br i1 {condition}, label %{then}, label %{otherwise}{weights}")
        self.open = False

    def finish(self, text: str) -> None:
        """Write a terminator other than a branch."""
        self.do(text)
        self.open = False

    def alloca(self, type: str, stem: str, align: int = 0) -> str:
        result = self.name(stem)
        self.allocas.append(f"  {result} = alloca {type}" + (f", align {align}" if align else ""))
        return result

    def call(self, name: str, result: str, types: Sequence[str], arguments: Sequence[str]) -> str:
        """Call an external function or intrinsic, declared on first use."""
        self.declare(name, result, types)
        listed = ", ".join(f"{t} {a}" for t, a in zip(types, arguments, strict=True))
        if result == "void":
            self.do(f"call void @{name}({listed})")
            return ""
        return self.emit(f"call {result} @{name}({listed})")

    def declare(self, name: str, result: str, types: Sequence[str]) -> None:
        self.declarations.setdefault(name, f"declare {result} @{name}({', '.join(types)})")
