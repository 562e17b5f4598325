"""Expressions of device IR in C: brackets where C needs them, casts where C's types differ from the machine's.

A 64-bit value that is known to fit stands in an `int`. Arithmetic that may wrap is done in unsigned types, since signed
overflow is undefined in C: `(u32)a + b`.
"""

from collections.abc import Mapping
from typing import Final, assert_never

from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar
from isogrid.printers.c_family_helpers import function_name
from isogrid.printers.c_family_ranges import Interval, Ranges
from isogrid.printers.c_family_spelling import Spelling
from isogrid.printers.c_family_text import (
    PRECEDENCE,
    UNARY,
    CType,
    Text,
    call,
    cast,
    element_type,
    float_literal,
    infix,
    integer_literal,
    machine_type,
    prefix,
    signed,
    signed_value,
    unsigned,
)
from isogrid.support.errors import CompilerBug

_INT: Final = (-(1 << 31), (1 << 31) - 1)
#: What the index of an access is known to be in a launch without large sizes.
_SMALL_INDEX: Final = (0, (1 << 31) - 1)
_SIGNS: Final = {"iadd": "+", "isub": "-", "imul": "*", "iand": "&", "ior": "|", "ixor": "^"}
_COMPARISONS: Final = {"slt": "<", "sle": "<=", "ult": "<", "ule": "<=", "ieq": "==", "ine": "!="}
_OPPOSITE: Final = {"<": ">=", "<=": ">", "==": "!=", "!=": "=="}
_FLOAT_COMPARISONS: Final = {"feq": "==", "fne": "!=", "flt": "<", "fle": "<="}


class Expressions:
    """Prints the expressions of one function. `needs` collects the helper functions that they call."""

    def __init__(
        self,
        spelling: Spelling,
        ranges: Ranges,
        names: Mapping[tuple[str, str], str],
        specials: Mapping[tuple[str, int], Text],
        elements: Mapping[str, Scalar],
        scalars: Mapping[str, Scalar],
    ) -> None:
        self.spelling, self.ranges, self.names, self.specials = spelling, ranges, names, specials
        self.elements, self.scalars = elements, scalars
        self.types: dict[str, CType] = {}
        #: Temporaries that stand where they are used.
        self.deferred: dict[str, d.Expr] = {}
        self.needs: set[str] = set()

    # --- what a caller asks for ---------------------------------------------------------------------------------------

    def text(self, node: d.Expr) -> Text:
        """The expression in the type that suits it."""
        match node:
            case d.Literal():
                return self._literal(node)
            case d.Value():
                if node.name in self.deferred:
                    return self.text(self.deferred[node.name])
                return Text(self.names["value", node.name], self.types[node.name])
            case d.Argument():
                found = Text(self.names[node.kind, node.name], self.argument_type(node))
                return _as_truth(found) if node.type is Machine.I1 else found
            case d.Special():
                return self.specials[node.kind, node.axis]
            case d.Load():
                return self._load(node)
            case d.Op():
                return self._op(node)
            case _:
                assert_never(node)

    def converted(self, node: d.Expr, type: CType) -> Text:
        """The expression as a value of `type`, with a cast where it has another."""
        if isinstance(node, d.Literal) and type.is_integer:
            value = signed_value(node)
            return integer_literal(value if type.is_signed else value & ((1 << type.bits) - 1), type)
        return self._cast(self.text(node), type)

    def loosely(self, node: d.Expr, type: CType) -> Text:
        """The expression as an operand of an operation of `type`: C widens smaller numbers of equal sign by itself."""
        if isinstance(node, d.Literal):
            return self.converted(node, type)
        found = self.text(node)
        if found.type.is_integer and found.type.is_signed == type.is_signed and found.type.bits <= type.bits:
            return found
        return self._cast(found, type)

    def index(self, node: d.Expr) -> Text:
        """An index that a check or proof has put in range: where sizes are small, an `int` holds it."""
        if not self.ranges.small or node.type is not Machine.I64:
            return self.text(node)
        return self._bounded(node, _SMALL_INDEX)

    def argument_type(self, node: d.Argument) -> CType:
        """Sizes of small launches are kept as `int` by the head of the kernel."""
        if node.kind == "dim":
            return CType.I32 if self.ranges.small else CType.I64
        return element_type(self.scalars[node.name])

    def fits_int(self, node: d.Expr) -> bool:
        low, high = self.ranges.of(node)
        return low >= _INT[0] and high <= _INT[1]

    # --- leaves -------------------------------------------------------------------------------------------------------

    def _literal(self, node: d.Literal) -> Text:
        if node.type is Machine.I1:
            return Text("true" if node.bits else "false", CType.BOOL)
        type = machine_type(node.type)
        if not node.type.is_float:
            return integer_literal(signed_value(node), type)
        found = float_literal(node.bits, type)
        if found is not None:
            return found
        word = unsigned(type.bits)
        digits = f"0x{node.bits:x}{'u' if type is CType.F32 else 'ull'}"
        return self._named(f"{word.suffix}_{type.suffix}", type, Text(digits, word))

    def _load(self, node: d.Load) -> Text:
        name = self.names["buffer", node.buffer]
        found = Text(f"{name}[{self.index(node.index).text}]", element_type(self.elements[node.buffer]))
        return _as_truth(found) if node.type is Machine.I1 else found

    # --- operations ---------------------------------------------------------------------------------------------------

    def _op(self, node: d.Op) -> Text:
        op, arguments = node.op, node.arguments
        match op:
            case "iadd" | "isub" | "imul":
                return self._arithmetic(node)
            case "ineg":
                found = self.text(arguments[0])
                if self._no_wrap(node) and found.type.is_signed:
                    found = found if self.fits_int(node) else cast(found, signed(max(node.type.bits, 32)))
                    return prefix("-", found, found.type)
                return self._wrapping("-", d.Literal(0, node.type), arguments[0], node.type)
            case "iand" | "ior" | "ixor":
                return self._logic(node)
            case "inot":
                return self._not(node)
            case "shl" | "lshr" | "ashr":
                return self._shift(node)
            case "sdiv" | "srem" | "udiv" | "urem":
                return self._division(node)
            case "ieq" | "ine" | "slt" | "sle" | "ult" | "ule":
                return self._comparison(node)
            case "feq" | "fne" | "flt" | "fle":
                a, b = (self.text(x) for x in arguments)
                return infix(_FLOAT_COMPARISONS[op], a, b, CType.BOOL)
            case "select":
                return self._select(node)
            case "trunc" | "sext" | "zext" | "sitofp" | "uitofp" | "fptosi" | "fptoui" | "fpext" | "fptrunc" | "bits":
                return self._conversion(node)
            case "fneg":
                return prefix("-", self.text(arguments[0]), machine_type(node.type))
            case "fadd" | "fsub" | "fmul" | "fdiv":
                return self._float_arithmetic(node)
            case "f16_value" | "bf16_value":
                return self._named(op, CType.F32, self.converted(arguments[0], CType.U16))
            case "f16_bits" | "bf16_bits":
                return self._named(op, CType.U16, self.text(arguments[0]))
            case _:
                return self._function(node)

    def _no_wrap(self, node: d.Op) -> bool:
        exact = self.ranges.exact(node)
        half = 1 << (node.type.bits - 1)
        return exact is not None and -half <= exact[0] and exact[1] < half

    def _arithmetic(self, node: d.Op) -> Text:
        a, b = node.arguments
        sign = _SIGNS[node.op]
        texts = [self.text(x) for x in (a, b) if not isinstance(x, d.Literal)]
        if all(t.type.is_signed or t.type.bits < 32 for t in texts) and self._no_wrap(node):
            first, second = self._signed(a), self._signed(b)
            if not self.fits_int(node) and CType.I64 not in (first.type, second.type):
                first = self._widened(a, first)
            type = CType.I64 if CType.I64 in (first.type, second.type) else CType.I32
            return infix(sign, first, second, type)
        return self._wrapping(sign, a, b, node.type)

    def _signed(self, node: d.Expr) -> Text:
        """The text as a signed number where its value allows that without a cast."""
        found = self.text(node)
        if found.type.is_signed or not found.type.is_integer:
            return found
        if found.type.bits < 32:
            return Text(found.text, CType.I32, found.precedence, found.sign)
        return self._cast(found, signed(found.type.bits))

    def _widened(self, node: d.Expr, text: Text) -> Text:
        if isinstance(node, d.Literal):
            return Text(f"(i64){signed_value(node)}", CType.I64, UNARY)
        return cast(text, CType.I64)

    def _wrapping(self, sign: str, a: d.Expr, b: d.Expr, type: Machine) -> Text:
        """Arithmetic modulo 2^n: unsigned, by a cast of the first operand that is no literal."""
        word = unsigned(max(type.bits, 32))
        if isinstance(a, d.Literal):
            first, second = self.converted(a, word), self.converted(b, word)
            return infix(sign, first, second, word)
        first = self.converted(a, word)
        second = self.converted(b, word) if isinstance(b, d.Literal) else self.text(b)
        return infix(sign, first, second, word)

    def _bounded(self, node: d.Expr, bound: Interval) -> Text:
        """An expression whose value is known to lie in `bound`, which starts at 0: sums and products of numbers that
        are not negative stay below it too, so that all of it is `int` arithmetic."""
        if isinstance(node, d.Op) and node.op in ("iadd", "imul") and not self.fits_int(node) and self._no_wrap(node):
            a, b = node.arguments
            if self.ranges.of(a)[0] >= 0 and self.ranges.of(b)[0] >= 0:
                inner = bound if node.op == "iadd" else None
                first = self._bounded(a, bound) if inner else self.text(a)
                second = self._bounded(b, bound) if inner else self.text(b)
                if CType.I32 is first.type and second.type is CType.I32:
                    return infix(_SIGNS[node.op], first, second, CType.I32)
        return self.text(node)

    def _logic(self, node: d.Op) -> Text:
        a, b = node.arguments
        if node.type is Machine.I1:
            sign = {"iand": "&&", "ior": "||", "ixor": "!="}[node.op]
            return infix(sign, self.text(a), self.text(b), CType.BOOL)
        type = self._common(a, b, node.type)
        first, second = self.loosely(a, type), self.loosely(b, type)
        return infix(_SIGNS[node.op], first, second, _wider(first.type, second.type))

    def _common(self, a: d.Expr, b: d.Expr, machine: Machine) -> CType:
        """A type for both operands of an operation that does not care for signs."""
        texts = [self.text(x) for x in (a, b) if not isinstance(x, d.Literal)]
        if not texts:
            return signed(max(machine.bits, 32))
        is_signed = all(t.type.is_signed or (t.type.bits < 32) for t in texts)
        if machine is Machine.I64 and is_signed and all(self.fits_int(x) for x in (a, b)):
            return CType.I32 if all(t.type.bits <= 32 for t in texts) else CType.I64
        bits = max(machine.bits, 32)
        return signed(bits) if is_signed else unsigned(bits)

    def _not(self, node: d.Op) -> Text:
        (a,) = node.arguments
        if isinstance(a, d.Op) and a.op == "inot":
            return self.text(a.arguments[0])
        if node.type is not Machine.I1:
            return prefix("~", self.text(a), self._promoted(self.text(a).type))
        if isinstance(a, d.Op) and a.op in _COMPARISONS and a.arguments[0].type is not Machine.I1:
            found = self._comparison(a)
            return self._comparison(a, opposite=True) if found.sign in _OPPOSITE else prefix("!", found, CType.BOOL)
        return prefix("!", self.text(a), CType.BOOL)

    def _promoted(self, type: CType) -> CType:
        return type if type.bits >= 32 else CType.I32

    def _shift(self, node: d.Op) -> Text:
        a, amount = node.arguments
        by = self.text(amount)
        if by.type.bits == 64:
            by = cast(by, CType.I32)
        match node.op:
            case "shl":
                below = self.ranges.of(amount)[1] < 31
                if self._no_wrap(node) and self.ranges.of(a)[0] >= 0 and self.fits_int(node) and below:
                    return infix("<<", self._cast(self.text(a), CType.I32), by, CType.I32)
                word = unsigned(max(node.type.bits, 32))
                return infix("<<", self.converted(a, word), by, word)
            case "lshr":
                found = self._wide_enough(self.text(a), node)
                if self.ranges.of(a)[0] >= 0 and found.type.is_signed:
                    return infix(">>", found, by, found.type)
                word = unsigned(max(node.type.bits, 32))
                return infix(">>", self.converted(a, word), by, word)
            case _:
                found = self._wide_enough(self._signed(a), node)
                return infix(">>", found, by, found.type)

    def _wide_enough(self, text: Text, node: d.Op) -> Text:
        """An `int` that stands for 64 bits can be shifted by less than 32 alone."""
        most = self.ranges.of(node.arguments[1])
        if node.type is Machine.I64 and text.type is CType.I32 and not (most[0] >= 0 and most[1] < 32):
            return cast(text, CType.I64)
        return text

    def _division(self, node: d.Op) -> Text:
        a, b = node.arguments
        sign = "/" if node.op in ("sdiv", "udiv") else "%"
        positive = self.ranges.of(a)[0] >= 0 and self.ranges.of(b)[0] >= 0
        bits = max(node.type.bits, 32)
        if node.op in ("sdiv", "srem") or positive:
            first, second = self._signed(a), self._signed(b)
            type = CType.I64 if CType.I64 in (first.type, second.type) else CType.I32
            if type is CType.I32 and bits == 64 and not positive and self.ranges.of(a)[0] == _INT[0]:
                # MIN / -1 fits 64 bits and not an int.
                first, type = cast(first, CType.I64), CType.I64
            return infix(sign, first, second, type)
        word = unsigned(bits)
        return infix(sign, self.converted(a, word), self.converted(b, word), word)

    def _comparison(self, node: d.Op, *, opposite: bool = False) -> Text:
        a, b = node.arguments
        sign = _COMPARISONS[node.op]
        sign = _OPPOSITE[sign] if opposite else sign
        if a.type is Machine.I1:
            return infix(sign, self.text(a), self.text(b), CType.BOOL)
        if node.op in ("ieq", "ine"):
            type = self._common(a, b, a.type)
            return infix(sign, self.loosely(a, type), self.loosely(b, type), CType.BOOL)
        positive = self.ranges.of(a)[0] >= 0 and self.ranges.of(b)[0] >= 0
        if node.op in ("slt", "sle") or (positive and self._is_signed(a) and self._is_signed(b)):
            return infix(sign, self._signed(a), self._signed(b), CType.BOOL)
        word = unsigned(max(a.type.bits, 32))
        return infix(sign, self.loosely(a, word), self.loosely(b, word), CType.BOOL)

    def _is_signed(self, node: d.Expr) -> bool:
        return isinstance(node, d.Literal) or self.text(node).type.is_signed

    def _select(self, node: d.Op) -> Text:
        condition, first, second = node.arguments
        if node.type.is_float or node.type is Machine.I1:
            type = machine_type(node.type)
            one, other = self.text(first), self.text(second)
        else:
            type = self._common(first, second, node.type)
            one, other = self.loosely(first, type), self.loosely(second, type)
            type = _wider(one.type, other.type)
        test = self.text(condition)
        text = f"{test.inside('?', right=True)} ? {one.inside('?', right=True)} : {other.inside('?', right=True)}"
        return Text(text, type, PRECEDENCE["?"], "?")

    def _conversion(self, node: d.Op) -> Text:
        (a,) = node.arguments
        match node.op:
            case "fptosi" | "fptoui":
                bits = max(node.type.bits, 32)
                return cast(self.text(a), signed(bits) if node.op == "fptosi" else unsigned(bits))
            case "fpext" | "fptrunc":
                return cast(self.text(a), machine_type(node.type))
            case "sitofp":
                return cast(self._signed(a), machine_type(node.type))
            case "uitofp":
                return self._from_unsigned(a, machine_type(node.type))
            case "bits":
                return self._bits(node)
            case "sext" | "zext":
                return self._extended(node)
            case "trunc":
                return self._truncated(node)
            case _:
                raise CompilerBug(f"no conversion {node.op}")

    def _from_unsigned(self, a: d.Expr, type: CType) -> Text:
        found = self.text(a)
        if a.type is Machine.I1:
            return Text(
                f"{found.inside('?', right=True)} ? {'1.0f : 0.0f' if type is CType.F32 else '1.0 : 0.0'}",
                type,
                PRECEDENCE["?"],
                "?",
            )
        if found.type.is_signed and self.ranges.of(a)[0] < 0:
            found = self._cast(found, unsigned(max(a.type.bits, 32)))
        return cast(found, type)

    def _bits(self, node: d.Op) -> Text:
        (a,) = node.arguments
        if a.type.is_float == node.type.is_float:
            return self.text(a)
        if a.type.is_float:
            word = unsigned(node.type.bits)
            return self._named(f"{machine_type(a.type).suffix}_{word.suffix}", word, self.text(a))
        word, type = unsigned(a.type.bits), machine_type(node.type)
        return self._named(f"{word.suffix}_{type.suffix}", type, self.converted(a, word))

    def _extended(self, node: d.Op) -> Text:
        (a,) = node.arguments
        found = self.text(a)
        if a.type is Machine.I1:
            if node.op == "zext":
                return Text(f"{found.inside('?', right=True)} ? 1 : 0", CType.I32, PRECEDENCE["?"], "?")
            return Text(f"{found.inside('?', right=True)} ? -1 : 0", CType.I32, PRECEDENCE["?"], "?")
        wanted = signed(a.type.bits) if node.op == "sext" else unsigned(a.type.bits)
        if found.type is not wanted and not (
            a.type is Machine.I32 and found.type.is_signed and self.ranges.of(a)[0] >= 0
        ):
            found = cast(found, wanted)
        if found.type.bits < 32:
            # C promotes it to int by itself.
            return Text(found.text, CType.I32, found.precedence, found.sign)
        return cast(found, CType.I64) if found.type is CType.U32 else found

    def _truncated(self, node: d.Op) -> Text:
        (a,) = node.arguments
        found = self.text(a)
        if node.type is Machine.I1:
            one = integer_literal(1, found.type if found.type.bits >= 32 else CType.I32)
            return infix("!=", infix("&", found, one, found.type), Text("0", CType.I32), CType.BOOL)
        if node.type is Machine.I32:
            if found.type.bits <= 32:
                return found if found.type.bits == 32 else Text(found.text, CType.I32, found.precedence, found.sign)
            return cast(found, CType.I32 if found.type.is_signed else CType.U32)
        return cast(found, signed(node.type.bits) if found.type.is_signed else unsigned(node.type.bits))

    def _float_arithmetic(self, node: d.Op) -> Text:
        type = machine_type(node.type)
        a, b = (self.text(x) for x in node.arguments)
        word = self.spelling.operations[f"{node.op}_{type.suffix}"]
        return infix(word, a, b, type) if word in PRECEDENCE else call(word, a, b, type=type)

    def _function(self, node: d.Op) -> Text:
        """Operations that are function calls, the language's or a helper's."""
        reads_unsigned = node.op[0] == "u" or node.op in ("popcount", "clz", "ctz", "rotl")
        first = node.arguments[0].type
        if first.is_float:
            operand = machine_type(first)
            texts = [self.text(a) for a in node.arguments]
        else:
            bits = max(first.bits, 32)
            operand = unsigned(bits) if reads_unsigned else signed(bits)
            if node.op in ("smin", "smax") and all(self.text(a).type is CType.I32 for a in node.arguments):
                operand = CType.I32
            # Overloaded functions want operands of one type, literals too.
            texts = [cast(self.converted(a, operand), operand) for a in node.arguments]
        key = f"{node.op}_{operand.suffix}"
        if node.type is Machine.I1:
            result = CType.BOOL
        elif node.type.is_float:
            result = machine_type(node.type)
        else:
            result = CType.I32 if node.op in ("popcount", "clz", "ctz") else operand
        return self._named(key, result, *texts)

    def _named(self, key: str, type: CType, *arguments: Text) -> Text:
        """A call of the function for `key`, which is noted as needed."""
        self.needs.add(key)
        return call(function_name(self.spelling, key), *arguments, type=type)

    def _cast(self, text: Text, type: CType) -> Text:
        if text.type is type:
            return text
        if text.type.bits < 32 and type is CType.I32 and text.type.is_integer:
            return Text(text.text, type, text.precedence, text.sign)
        return cast(text, type)


def _wider(a: CType, b: CType) -> CType:
    """The type that C gives an operation on two types of equal sign."""
    return a if a.bits >= b.bits else b


def _as_truth(text: Text) -> Text:
    """A byte of memory as a bool."""
    return infix("!=", text, Text("0", CType.I32), CType.BOOL)
