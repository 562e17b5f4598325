"""Reference float arithmetic beyond what NumPy scalars do exactly: fma, floor division, rounding, bits, conversions.

Values are `np.float32` and `np.float64` scalars (for elements also `np.float16`; a bf16 is an `np.float32` that bf16
holds). NumPy's `+ - * /` and comparisons on such scalars are IEEE, rounded once to the type; everything else of the
language is defined here, without NumPy's `//`, `%`, `minimum`, `round` or integer casts.
"""

import math
import struct
from typing import Any, Final

import numpy as np

from isogrid.ir.types import Scalar

_CLASSES: Final[dict[Scalar, Any]] = {Scalar.F16: np.float16, Scalar.F32: np.float32, Scalar.F64: np.float64}
_BITS_FORMAT: Final = {Scalar.F16: ("<e", "<H"), Scalar.F32: ("<f", "<I"), Scalar.F64: ("<d", "<Q")}
_CANONICAL_NAN: Final = {
    Scalar.F16: 0x7E00,
    Scalar.BF16: 0x7FC0,
    Scalar.F32: 0x7FC00000,
    Scalar.F64: 0x7FF8000000000000,
}
#: The greatest finite value of each storage type.
LARGEST: Final = {Scalar.F16: 65504.0, Scalar.BF16: math.ldexp(255.0, 120)}
_BF16_DIGITS: Final = 8
#: bf16 has the exponents of f32: its least subnormal is 2^-133, and 2^128 is beyond it.
_BF16_LEAST: Final = -133
_BF16_TOP: Final = 128


def number(type: Scalar, value: Any) -> Any:
    """A NumPy scalar of a float type from a float: one rounding, overflow to infinity."""
    return _bfloat16(float(value)) if type is Scalar.BF16 else _CLASSES[type](value)


def _bfloat16(value: float) -> Any:
    """The nearest bf16, as an f32. An f64 holds every step exactly: a rounding happens in `round` alone."""
    if not math.isfinite(value) or value == 0.0:
        return np.float32(value)
    exponent = math.frexp(value)[1]
    if exponent > _BF16_TOP:
        return np.float32(math.copysign(math.inf, value))
    unit = max(exponent - _BF16_DIGITS, _BF16_LEAST)
    rounded = math.ldexp(round(math.ldexp(value, -unit)), unit)
    return np.float32(math.copysign(math.inf if abs(rounded) > LARGEST[Scalar.BF16] else rounded, value))


def to_bits(type: Scalar, x: Any) -> int:
    """The IEEE bits of `x`; every NaN has the bits of the canonical quiet NaN."""
    if x != x:
        return _CANONICAL_NAN[type]
    if type is Scalar.BF16:
        return to_bits(Scalar.F32, x) >> 16
    form, bits = _BITS_FORMAT[type]
    return struct.unpack(bits, struct.pack(form, x))[0]


def from_bits(type: Scalar, bits: int) -> Any:
    """The float of `type` with these IEEE bits."""
    if type is Scalar.BF16:
        return from_bits(Scalar.F32, bits << 16)
    form = "<" + {16: "u2", 32: "u4", 64: "u8"}[type.bits]
    return np.frombuffer(np.array(bits, form).tobytes(), _CLASSES[type])[0]


def from_integer(type: Scalar, value: int) -> Any:
    """`value` rounded once to the float type. Never through a second format: beyond 2^53 an odd last bit keeps what
    the first rounding would lose (53 >= 24 + 2)."""
    if type is not Scalar.F64 and abs(value) >= 1 << 53:
        magnitude = abs(value)
        if magnitude.bit_length() > 1024:
            return number(type, math.inf if value > 0 else -math.inf)
        drop = magnitude.bit_length() - 53
        top = magnitude >> drop
        if top << drop != magnitude:
            top |= 1
        rounded = math.ldexp(float(top), drop)
        return number(type, rounded if value > 0 else -rounded)
    try:
        return number(type, float(value))
    except OverflowError:
        return number(type, math.inf if value > 0 else -math.inf)


def is_negative(x: Any) -> bool:
    """The sign bit; a NaN's is clear."""
    return not math.isnan(x) and math.copysign(1.0, x) < 0.0


def sqrt(type: Scalar, x: Any) -> Any:
    # The f64 root of an f32, rounded again, is the f32 root: 53 >= 2 * 24 + 2.
    if x < 0.0:
        return number(type, math.nan)
    return number(type, math.sqrt(x))


def fma(type: Scalar, a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
    if type is Scalar.F32:
        return np.float32(_fma_odd(float(a), float(b), float(c)))
    return np.float64(_fma_exact(float(a), float(b), float(c)))


def _fma_odd(a: float, b: float, c: float) -> float:
    """a * b + c of f32 values, rounded to odd in f64, so that rounding once more to f32 is exact (53 >= 24 + 2)."""
    product = a * b  # exact: 48 bits
    total = product + c
    if not math.isfinite(total):
        return total
    back = total - product
    error = (product - (total - back)) + (c - back)
    if error == 0.0 or struct.unpack("<q", struct.pack("<d", total))[0] & 1:
        return total
    return math.nextafter(total, math.inf if error > 0.0 else -math.inf)


def _fma_exact(a: float, b: float, c: float) -> float:
    """a * b + c of f64 values in exact integer arithmetic."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return c if math.isfinite(a) and math.isfinite(b) else a * b + c
    if a == 0.0 or b == 0.0:
        return a * b + c
    (an, ad), (bn, bd), (cn, cd) = a.as_integer_ratio(), b.as_integer_ratio(), c.as_integer_ratio()
    numerator, denominator = an * bn * cd + cn * ad * bd, ad * bd * cd
    if numerator == 0:
        return 0.0
    try:
        return numerator / denominator  # Python rounds the quotient of two ints once, subnormals included
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def fmod(type: Scalar, a: Any, b: Any) -> Any:
    """C's fmod: exact, so the f64 result of two f32 values is an f32."""
    if b == 0.0 or a != a or b != b or math.isinf(a):
        return number(type, math.nan)
    return number(type, math.fmod(a, b))


def mod(type: Scalar, a: Any, b: Any) -> Any:
    """`a % b` with the sign of b; NaN for b = 0."""
    r = fmod(type, a, b)
    if r != r:
        return r
    if r == 0.0:
        return number(type, math.copysign(0.0, b))
    return r + b if (r < 0.0) != (b < 0.0) else r


def floordiv(type: Scalar, a: Any, b: Any) -> Any:
    """`a // b` by CPython's method, each step in the type; `a / b` for b = 0."""
    if b == 0.0:
        return a / b
    r = fmod(type, a, b)
    quotient = (a - r) / b
    if r != 0.0 and (b < 0.0) != (r < 0.0):
        quotient = quotient - number(type, 1.0)
    if quotient == 0.0:
        return number(type, math.copysign(0.0, a / b))
    whole = floor(type, quotient)
    return whole + number(type, 1.0) if quotient - whole > 0.5 else whole


def power(type: Scalar, base: Any, exponent: Any) -> Any:
    """`base ** n` for a literal n of 0..4: multiplications from left to right."""
    result = number(type, 1.0)
    for step in range(int(exponent)):
        result = base if step == 0 else result * base
    return result


def minimum(type: Scalar, a: Any, b: Any) -> Any:
    if a != a or b != b:
        return number(type, math.nan)
    if a == b:
        return a if is_negative(a) else b
    return a if a < b else b


def maximum(type: Scalar, a: Any, b: Any) -> Any:
    if a != a or b != b:
        return number(type, math.nan)
    if a == b:
        return b if is_negative(a) else a
    return a if a > b else b


def _integral(type: Scalar, x: Any, rounding: Any) -> Any:
    """`rounding(x)`, an int, as a float with the sign of x; infinities, NaN and -0 stay."""
    if not math.isfinite(x):
        return x
    return number(type, math.copysign(float(rounding(float(x))), x))


def floor(type: Scalar, x: Any) -> Any:
    return _integral(type, x, math.floor)


def ceil(type: Scalar, x: Any) -> Any:
    return _integral(type, x, math.ceil)


def trunc(type: Scalar, x: Any) -> Any:
    return _integral(type, x, math.trunc)


def round_even(type: Scalar, x: Any) -> Any:
    return _integral(type, x, round)


def negate(type: Scalar, x: Any) -> Any:
    return -x


def absolute(type: Scalar, x: Any) -> Any:
    return abs(x)


def copysign(type: Scalar, magnitude: Any, sign: Any) -> Any:
    return -abs(magnitude) if is_negative(sign) else abs(magnitude)
