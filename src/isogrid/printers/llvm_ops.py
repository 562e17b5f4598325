"""Device operations as LLVM instructions, of one value or of a vector of lanes; strict IEEE unless flags are given."""

from collections.abc import Sequence
from dataclasses import dataclass

from isogrid.ir.device import Machine
from isogrid.ir.operations import STORED_FLOATS
from isogrid.printers.llvm_divisions import division
from isogrid.printers.llvm_halves import stored_float
from isogrid.printers.llvm_products import keep_apart, lower_half, upper_half
from isogrid.printers.llvm_text import Writer, literal_text, mangled, splat_text, type_text

_BINARY = {
    "iadd": "add",
    "isub": "sub",
    "imul": "mul",
    "iand": "and",
    "ior": "or",
    "ixor": "xor",
    "lshr": "lshr",
    "ashr": "ashr",
    "shl": "shl",
    "fadd": "fadd",
    "fsub": "fsub",
    "fmul": "fmul",
    "fdiv": "fdiv",
    "ffmod": "frem",
}
_COMPARE = {
    "ieq": "icmp eq",
    "ine": "icmp ne",
    "slt": "icmp slt",
    "sle": "icmp sle",
    "ult": "icmp ult",
    "ule": "icmp ule",
    "feq": "fcmp oeq",
    "fne": "fcmp une",
    "flt": "fcmp olt",
    "fle": "fcmp ole",
}
_INTRINSIC = {
    "smin": "smin",
    "smax": "smax",
    "umin": "umin",
    "umax": "umax",
    "popcount": "ctpop",
    "fabs": "fabs",
    "fsqrt": "sqrt",
    "fma": "fma",
    "ffloor": "floor",
    "fceil": "ceil",
    "ftrunc": "trunc",
    "froundeven": "roundeven",
    "fmin": "minimum",
    "fmax": "maximum",
    "fcopysign": "copysign",
}
_CONVERT = {
    "trunc": "trunc",
    "sext": "sext",
    "zext": "zext",
    "sitofp": "sitofp",
    "uitofp": "uitofp",
    "fptosi": "fptosi",
    "fptoui": "fptoui",
    "fpext": "fpext",
    "fptrunc": "fptrunc",
    "bits": "bitcast",
}
_FLAGGED = frozenset({"fadd", "fsub", "fmul", "fdiv"})
_WIDE_OVERFLOW = {"smul_overflows": "sext", "umul_overflows": "zext"}


@dataclass(frozen=True, slots=True)
class Shape:
    """How one operation is spelt: lanes, and the fast-math flags of its float arithmetic ("" for strict)."""

    width: int = 1
    flags: str = ""


def operation(w: Writer, op: str, arguments: Sequence[str], type: Machine, result: Machine, shape: Shape) -> str:
    """Write one operation on operands of machine type `type` (of the second operand for `select`)."""
    text = type_text(type, shape.width)
    if op == "imul" and shape.width > 1 and type is Machine.I32:
        lower = lower_half(w, arguments[0], arguments[1], shape.width)
        if lower is not None:
            return lower
    if op in _BINARY:
        flags = shape.flags if op in _FLAGGED else ""
        found = w.emit(f"{_BINARY[op]} {flags}{text} {arguments[0]}, {arguments[1]}")
        if shape.width > 1 and type is Machine.I32:
            keep_apart(w, op, arguments[0], arguments[1], found, shape.width)
        return found
    if op in _COMPARE:
        return w.emit(f"{_COMPARE[op]} {text} {arguments[0]}, {arguments[1]}")
    if op == "fmin" and w.minima_by_bits:
        return _minimum(w, arguments[0], arguments[1], type, shape)
    if op in _INTRINSIC:
        name = f"llvm.{_INTRINSIC[op]}.{mangled(type, shape.width)}"
        return w.call(name, text, [text] * len(arguments), arguments)
    if op in _CONVERT:
        if type is result:
            return arguments[0]
        return w.emit(f"{_CONVERT[op]} {text} {arguments[0]} to {type_text(result, shape.width)}")
    if op in STORED_FLOATS:
        return stored_float(w, op, arguments[0], shape.width)
    return _special(w, op, arguments, type, shape)


def _minimum(w: Writer, a: str, b: str, type: Machine, shape: Shape) -> str:
    """The smaller of two floats by an instruction that gives its second operand where they are equal or not ordered.

    Both ways round it gives both zeros, or a number and a NaN, and the bits of the two together are what is wanted:
    -0 if one of them is, a NaN if one of them is.
    """
    text, one = (
        type_text(type, shape.width),
        type_text(Machine.I32 if type is Machine.F32 else Machine.I64, shape.width),
    )
    bits: list[str] = []
    for first, second in ((a, b), (b, a)):
        less = w.emit(f"fcmp olt {text} {first}, {second}")
        smaller = w.emit(f"select {type_text(Machine.I1, shape.width)} {less}, {text} {first}, {text} {second}")
        bits.append(w.emit(f"bitcast {text} {smaller} to {one}"))
    return w.emit(f"bitcast {one} {w.emit(f'or {one} {bits[0]}, {bits[1]}')} to {text}")


def _special(w: Writer, op: str, arguments: Sequence[str], type: Machine, shape: Shape) -> str:
    text = type_text(type, shape.width)
    match op:
        case "ineg":
            return w.emit(f"sub {text} {_constant(0, type, shape)}, {arguments[0]}")
        case "inot":
            return w.emit(f"xor {text} {arguments[0]}, {_constant((1 << type.bits) - 1, type, shape)}")
        case "fneg":
            return w.emit(f"fneg {text} {arguments[0]}")
        case "fisnan":
            return w.emit(f"fcmp uno {text} {arguments[0]}, {arguments[0]}")
        case "select":
            condition = type_text(Machine.I1, shape.width)
            return w.emit(f"select {condition} {arguments[0]}, {text} {arguments[1]}, {text} {arguments[2]}")
        case "clz" | "ctz":
            name = f"llvm.{'ctlz' if op == 'clz' else 'cttz'}.{mangled(type, shape.width)}"
            return w.call(name, text, [text, "i1"], [arguments[0], "false"])
        case "rotl":
            name = f"llvm.fshl.{mangled(type, shape.width)}"
            return w.call(name, text, [text] * 3, [arguments[0], arguments[0], arguments[1]])
        case "sdiv" | "srem" | "udiv" | "urem":
            return division(w, op, arguments, type, shape.width)
        case "smulhi" | "umulhi":
            return _upper_half(w, op, arguments, type, shape)
        case _:
            return _overflows(w, op, arguments, type, shape)


def _constant(bits: int, type: Machine, shape: Shape) -> str:
    return splat_text(literal_text(bits, type), type, shape.width)


def _overflows(w: Writer, op: str, arguments: Sequence[str], type: Machine, shape: Shape) -> str:
    """Whether an integer result leaves its type, in forms that vectorise (`*.with.overflow` does not)."""
    text = type_text(type, shape.width)
    a, b = arguments
    match op:
        case "sadd_overflows" | "ssub_overflows":
            adds = op == "sadd_overflows"
            result = w.emit(f"{'add' if adds else 'sub'} {text} {a}, {b}")
            left = w.emit(f"xor {text} {a}, {result}")
            right = w.emit(f"xor {text} {b if adds else a}, {result if adds else b}")
            both = w.emit(f"and {text} {left}, {right}")
            return w.emit(f"icmp slt {text} {both}, {_constant(0, type, shape)}")
        case "uadd_overflows":
            total = w.emit(f"add {text} {a}, {b}")
            return w.emit(f"icmp ult {text} {total}, {a}")
        case "usub_overflows":
            return w.emit(f"icmp ult {text} {a}, {b}")
        case "smul_overflows" | "umul_overflows" if shape.width > 1 and type is Machine.I64:
            upper = _long_upper_half(w, op == "smul_overflows", a, b, shape)
            if op == "umul_overflows":
                return w.emit(f"icmp ne {text} {upper}, {_constant(0, type, shape)}")
            sign = w.emit(f"ashr {text} {w.emit(f'mul {text} {a}, {b}')}, {_constant(63, type, shape)}")
            return w.emit(f"icmp ne {text} {upper}, {sign}")
        case "smul_overflows" | "umul_overflows":
            extend = _WIDE_OVERFLOW[op]
            wide = _wide_text(type, shape)
            product = _wide_product(w, extend, a, b, text, wide)
            narrow = w.emit(f"trunc {wide} {product} to {text}")
            again = w.emit(f"{extend} {text} {narrow} to {wide}")
            return w.emit(f"icmp ne {wide} {again}, {product}")
        case _:
            raise KeyError(op)


def _wide_text(type: Machine, shape: Shape) -> str:
    name = f"i{2 * type.bits}"
    return name if shape.width == 1 else f"<{shape.width} x {name}>"


def _wide_product(w: Writer, extend: str, a: str, b: str, text: str, wide: str) -> str:
    left = w.emit(f"{extend} {text} {a} to {wide}")
    right = w.emit(f"{extend} {text} {b} to {wide}")
    return w.emit(f"mul {wide} {left}, {right}")


def _upper_half(w: Writer, op: str, arguments: Sequence[str], type: Machine, shape: Shape) -> str:
    """The upper half of a product."""
    text, wide = type_text(type, shape.width), _wide_text(type, shape)
    if shape.width > 1 and type is Machine.I32:
        return upper_half(w, op == "smulhi", arguments[0], arguments[1], shape.width)
    if shape.width > 1 and type is Machine.I64:
        return _long_upper_half(w, op == "smulhi", arguments[0], arguments[1], shape)
    product = _wide_product(w, "sext" if op == "smulhi" else "zext", arguments[0], arguments[1], text, wide)
    amount = str(type.bits) if shape.width == 1 else f"splat (i{2 * type.bits} {type.bits})"
    upper = w.emit(f"lshr {wide} {product}, {amount}")
    return w.emit(f"trunc {wide} {upper} to {text}")


def _long_upper_half(w: Writer, signed: bool, a: str, b: str, shape: Shape) -> str:
    """The upper half of products of 64-bit lanes, from products of their 32-bit halves.

    LLVM takes vectors of 128-bit products apart into scalars: fifty times as long to compile, and slower to run.
    """
    text = type_text(Machine.I64, shape.width)
    low, half = _constant((1 << 32) - 1, Machine.I64, shape), _constant(32, Machine.I64, shape)

    def of(operation: str, left: str, right: str) -> str:
        return w.emit(f"{operation} {text} {left}, {right}")

    lower_a, lower_b, upper_a, upper_b = of("and", a, low), of("and", b, low), of("lshr", a, half), of("lshr", b, half)
    carried = of("lshr", of("mul", lower_a, lower_b), half)
    first = of("add", of("mul", upper_a, lower_b), carried)
    second = of("add", of("mul", lower_a, upper_b), of("and", first, low))
    upper = of("add", of("mul", upper_a, upper_b), of("add", of("lshr", first, half), of("lshr", second, half)))
    if signed:
        sign = _constant(63, Machine.I64, shape)
        for one, other in ((a, b), (b, a)):
            upper = of("sub", upper, of("and", of("ashr", one, sign), other))
    return upper
