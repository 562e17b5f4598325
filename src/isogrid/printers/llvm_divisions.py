"""Integer quotients and remainders, of one value or of a vector of lanes, which go through f64.

Below 2^51 a fraction a / d lies at least 1 / |d| from every integer, relatively more than 2^-53, so truncating the
rounded quotient truncates the true one. Where d is the same for all lanes, a is multiplied by y = RN((1 + 2^-51) / d),
which LLVM moves out of the loop: docs/decisions/0074.
"""

import struct
from collections.abc import Sequence
from typing import Final

from isogrid.ir.device import Machine
from isogrid.printers.llvm_text import Writer, literal_text, splat_text, type_text

#: Operands of 64 bits below this power of two are divided so.
_LIMIT: Final = 49
_ABOVE_ONE: Final = 1 + 2.0**-51


def division(w: Writer, op: str, arguments: Sequence[str], type: Machine, width: int) -> str:
    """Quotient or remainder; the divisor is not zero in any lane. MIN rem -1 is 0, where the hardware traps."""
    text = type_text(type, width)
    a, b = arguments
    if op == "srem" and not _is_constant(b):
        minus = w.emit(f"icmp eq {text} {b}, {_constant((1 << type.bits) - 1, type, width)}")
        one, same = _constant(1, type, width), b in w.splats
        b = w.emit(f"select {type_text(Machine.I1, width)} {minus}, {text} {one}, {text} {b}")
        if same:
            w.splats.add(b)
    if width > 1 and type is Machine.I64 and not _is_power_of_two(b):
        return _long(w, op, a, b, width)
    if width == 1 or type is not Machine.I32 or _is_constant(b):
        return w.emit(f"{op} {text} {a}, {b}")
    return _through_double(w, op, a, b, type, width)


def _long(w: Writer, op: str, a: str, b: str, width: int) -> str:
    """Vectors of i64 go through f64 where every operand lies in 0 .. 2^49 - 1, else lane by lane."""
    text = type_text(Machine.I64, width)
    either = w.emit(f"or {text} {a}, {b}")
    small = w.emit(f"icmp ult {text} {either}, {_constant(1 << _LIMIT, Machine.I64, width)}")
    bits = w.emit(f"bitcast <{width} x i1> {small} to i{width}")
    fast, slow, done = w.block("short"), w.block("long"), w.block("divided")
    w.branch(w.emit(f"icmp eq i{width} {bits}, -1"), fast, slow)
    w.place(fast)
    quick = _through_double(w, f"u{op[1:]}", a, b, Machine.I64, width)
    w.jump(done)
    w.place(slow)
    exact = w.emit(f"{op} {text} {a}, {b}")
    w.place(done)
    return w.emit(f"phi {text} [ {quick}, %{fast} ], [ {exact}, %{slow} ]")


def _through_double(w: Writer, op: str, a: str, b: str, type: Machine, width: int) -> str:
    text, signed = type_text(type, width), op[0] == "s"
    double = type_text(Machine.F64, width)
    left = w.emit(f"{'sitofp' if signed else 'uitofp'} {text} {a} to {double}")
    right = w.emit(f"{'sitofp' if signed else 'uitofp'} {text} {b} to {double}")
    if b in w.splats or _is_constant(b):
        above = _constant(_bits(_ABOVE_ONE), Machine.F64, width)
        ratio = w.emit(f"fmul {double} {left}, {w.emit(f'fdiv {double} {above}, {right}')}")
    else:
        ratio = w.emit(f"fdiv {double} {left}, {right}")
    quotient = w.emit(f"{'fptosi' if signed else 'fptoui'} {double} {ratio} to {text}")
    if op in ("sdiv", "udiv"):
        return quotient
    back = w.emit(f"mul {text} {quotient}, {b}")
    return w.emit(f"sub {text} {a}, {back}")


def _constant(bits: int, type: Machine, width: int) -> str:
    return splat_text(literal_text(bits, type), type, width)


def _bits(value: float) -> int:
    return int.from_bytes(struct.pack("<d", value), "little")


def _is_power_of_two(operand: str) -> bool:
    digits = operand.removesuffix(")").rsplit(" ", 1)[-1]
    return digits.isdigit() and int(digits) & (int(digits) - 1) == 0


def _is_constant(operand: str) -> bool:
    return not operand.startswith("%")
