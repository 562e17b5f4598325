"""Meanings of device-IR machine operations on non-negative ints (two's complement bits) and NumPy float scalars."""

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from isogrid.builtins import floats
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar
from isogrid.support.errors import CompilerBug

#: `(bits of the operands, bits of the result, operands...)`; the caller reduces an integer result modulo 2^bits.
Operation = Callable[..., Any]


def signed(bits: int, value: int) -> int:
    """Two's complement bits read as a signed integer."""
    return value - (1 << bits) if value >> (bits - 1) else value


def _overflows_signed(exact: Callable[[int, int], int]) -> Operation:
    def overflows(bits: int, result: int, a: int, b: int) -> bool:
        return not -(1 << (bits - 1)) <= exact(signed(bits, a), signed(bits, b)) < 1 << (bits - 1)

    return overflows


def _overflows_unsigned(exact: Callable[[int, int], int]) -> Operation:
    def overflows(bits: int, result: int, a: int, b: int) -> bool:
        return not 0 <= exact(a, b) < 1 << bits

    return overflows


def _divide_signed(bits: int, a: int, b: int) -> tuple[int, int]:
    """C's quotient and remainder; the two undefined cases are faults of a lowering."""
    x, y = signed(bits, a), signed(bits, b)
    if y == 0 or (y == -1 and x == -(1 << (bits - 1))):
        raise CompilerBug(f"device IR divides {x} by {y} without a check before it")
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return quotient, x - quotient * y


def _divide_unsigned(a: int, b: int) -> tuple[int, int]:
    if b == 0:
        raise CompilerBug(f"device IR divides {a} by 0 without a check before it")
    return divmod(a, b)


def _amount(bits: int, amount: int) -> int:
    if amount >= bits:
        raise CompilerBug(f"device IR shifts {bits} bits by {amount} without a check before it")
    return amount


def _rotate(bits: int, a: int, amount: int) -> int:
    amount %= bits
    return a << amount | a >> (bits - amount)


def _ctz(bits: int, a: int) -> int:
    return (a & -a).bit_length() - 1 if a else bits


def _float_type(bits: int) -> Scalar:
    return Scalar.F32 if bits == 32 else Scalar.F64


def _raw_bits(x: Any) -> int:
    """The bits of a float as they are; a NaN's payload is not the language's and lowering makes it canonical."""
    return int.from_bytes(x.tobytes(), "little")


def _bits(bits: int, result: int, x: Any) -> Any:
    return _raw_bits(x) if isinstance(x, np.floating) else floats.from_bits(_float_type(bits), x)


def _to_integer(low: int, high: int, x: Any) -> int:
    if not math.isfinite(x) or not low <= int(x) <= high:
        raise CompilerBug(f"device IR converts {x} to {low}..{high} without a check before it")
    return int(x)


def _copysign(bits: int, result: int, x: Any, y: Any) -> Any:
    top = 1 << (bits - 1)
    return floats.from_bits(_float_type(bits), _raw_bits(x) & (top - 1) | _raw_bits(y) & top)


def _fmod(bits: int, result: int, x: Any, y: Any) -> Any:
    if y == 0.0 or x != x or y != y or math.isinf(x):
        return floats.number(_float_type(bits), math.nan)
    return floats.number(_float_type(bits), math.fmod(x, y))


def _float(function: Callable[..., Any]) -> Operation:
    """A float meaning of the builtin tables."""

    def meaning(bits: int, result: int, *operands: Any) -> Any:
        return function(_float_type(bits), *operands)

    return meaning


_UNARY: Final[dict[str, Callable[[int, int, Any], Any]]] = {
    "ineg": lambda bits, result, a: -a,
    "inot": lambda bits, result, a: ~a,
    "popcount": lambda bits, result, a: a.bit_count(),
    "clz": lambda bits, result, a: bits - a.bit_length(),
    "ctz": lambda bits, result, a: _ctz(bits, a),
    "fneg": lambda bits, result, a: -a,
    "fabs": lambda bits, result, a: abs(a),
    "fsqrt": _float(floats.sqrt),
    "ffloor": _float(floats.floor),
    "fceil": _float(floats.ceil),
    "ftrunc": _float(floats.trunc),
    "froundeven": _float(floats.round_even),
    "fisnan": lambda bits, result, a: bool(a != a),
    "trunc": lambda bits, result, a: a,
    "sext": lambda bits, result, a: signed(bits, a),
    "zext": lambda bits, result, a: a,
    "sitofp": lambda bits, result, a: floats.from_integer(_float_type(result), signed(bits, a)),
    "uitofp": lambda bits, result, a: floats.from_integer(_float_type(result), int(a)),
    "fptosi": lambda bits, result, x: _to_integer(-(1 << (result - 1)), (1 << (result - 1)) - 1, x),
    "fptoui": lambda bits, result, x: _to_integer(0, (1 << result) - 1, x),
    "fpext": lambda bits, result, x: np.float64(x),
    "fptrunc": lambda bits, result, x: np.float32(x),
    "bits": _bits,
    "f16_value": lambda bits, result, a: floats.number(Scalar.F32, floats.from_bits(Scalar.F16, a)),
    "f16_bits": lambda bits, result, x: floats.to_bits(Scalar.F16, floats.number(Scalar.F16, x)),
    "bf16_value": lambda bits, result, a: floats.from_bits(Scalar.BF16, a),
    "bf16_bits": lambda bits, result, x: floats.to_bits(Scalar.BF16, floats.number(Scalar.BF16, x)),
}
_BINARY: Final[dict[str, Callable[[int, int, Any, Any], Any]]] = {
    "iadd": lambda bits, result, a, b: a + b,
    "isub": lambda bits, result, a, b: a - b,
    "imul": lambda bits, result, a, b: a * b,
    "sdiv": lambda bits, result, a, b: _divide_signed(bits, a, b)[0],
    "srem": lambda bits, result, a, b: _divide_signed(bits, a, b)[1],
    "udiv": lambda bits, result, a, b: _divide_unsigned(a, b)[0],
    "urem": lambda bits, result, a, b: _divide_unsigned(a, b)[1],
    "iand": lambda bits, result, a, b: a & b,
    "ior": lambda bits, result, a, b: a | b,
    "ixor": lambda bits, result, a, b: a ^ b,
    "shl": lambda bits, result, a, b: a << _amount(bits, b),
    "lshr": lambda bits, result, a, b: a >> _amount(bits, b),
    "ashr": lambda bits, result, a, b: signed(bits, a) >> _amount(bits, b),
    "smin": lambda bits, result, a, b: min(signed(bits, a), signed(bits, b)),
    "smax": lambda bits, result, a, b: max(signed(bits, a), signed(bits, b)),
    "umin": lambda bits, result, a, b: min(a, b),
    "umax": lambda bits, result, a, b: max(a, b),
    "ieq": lambda bits, result, a, b: a == b,
    "ine": lambda bits, result, a, b: a != b,
    "slt": lambda bits, result, a, b: signed(bits, a) < signed(bits, b),
    "sle": lambda bits, result, a, b: signed(bits, a) <= signed(bits, b),
    "ult": lambda bits, result, a, b: a < b,
    "ule": lambda bits, result, a, b: a <= b,
    "sadd_overflows": _overflows_signed(lambda a, b: a + b),
    "ssub_overflows": _overflows_signed(lambda a, b: a - b),
    "smul_overflows": _overflows_signed(lambda a, b: a * b),
    "uadd_overflows": _overflows_unsigned(lambda a, b: a + b),
    "usub_overflows": _overflows_unsigned(lambda a, b: a - b),
    "umul_overflows": _overflows_unsigned(lambda a, b: a * b),
    "smulhi": lambda bits, result, a, b: signed(bits, a) * signed(bits, b) >> bits,
    "umulhi": lambda bits, result, a, b: a * b >> bits,
    "rotl": lambda bits, result, a, b: _rotate(bits, a, b),
    "fadd": lambda bits, result, a, b: a + b,
    "fsub": lambda bits, result, a, b: a - b,
    "fmul": lambda bits, result, a, b: a * b,
    "fdiv": lambda bits, result, a, b: a / b,
    "ffmod": _fmod,
    "fmin": _float(floats.minimum),
    "fmax": _float(floats.maximum),
    "fcopysign": _copysign,
    "feq": lambda bits, result, a, b: bool(a == b),
    "fne": lambda bits, result, a, b: bool(a != b),
    "flt": lambda bits, result, a, b: bool(a < b),
    "fle": lambda bits, result, a, b: bool(a <= b),
}
_TERNARY: Final[dict[str, Callable[[int, int, Any, Any, Any], Any]]] = {
    "fma": _float(floats.fma),
    "select": lambda bits, result, condition, then, otherwise: then if condition else otherwise,
}
#: Every operation of device IR.
MEANINGS: Final[dict[str, Operation]] = {**_UNARY, **_BINARY, **_TERNARY}


def operation(name: str, operand: Machine, result: Machine) -> Operation:
    """The meaning of an operation at these types, with an integer result reduced to its bits."""
    meaning, bits, width = MEANINGS[name], operand.bits, result.bits
    mask = (1 << width) - 1

    def as_float(*operands: Any) -> Any:
        return meaning(bits, width, *operands)

    def as_bits(*operands: Any) -> int:
        return meaning(bits, width, *operands) & mask

    return as_float if result.is_float else as_bits
