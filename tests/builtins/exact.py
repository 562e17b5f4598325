"""Independent arithmetic to hold the tables to: rationals rounded once to a binary format, written apart from them."""

import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np

from isogrid.ir.types import Scalar

PRECISION = {Scalar.F16: 11, Scalar.BF16: 8, Scalar.F32: 24, Scalar.F64: 53}
LEAST_EXPONENT = {Scalar.F16: -24, Scalar.BF16: -133, Scalar.F32: -149, Scalar.F64: -1074}
TOP_EXPONENT = {Scalar.F16: 16, Scalar.BF16: 128, Scalar.F32: 128, Scalar.F64: 1024}
#: What stands for a value of each type: a bf16 is an f32.
CLASSES: dict[Scalar, Any] = {
    Scalar.F16: np.float16,
    Scalar.BF16: np.float32,
    Scalar.F32: np.float32,
    Scalar.F64: np.float64,
}


def rounded(type: Scalar, value: Fraction) -> Any:
    """The float nearest to a rational, ties to even, overflow to infinity. Zero becomes +0."""
    if value == 0:
        return as_type(type, 0.0)
    magnitude, sign = abs(value), -1.0 if value < 0 else 1.0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    while Fraction(2) ** exponent > magnitude:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= magnitude:
        exponent += 1
    quantum = max(exponent - PRECISION[type] + 1, LEAST_EXPONENT[type])
    scaled = magnitude / Fraction(2) ** quantum
    whole, rest = divmod(scaled, 1)
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1):
        whole += 1
    if whole * Fraction(2) ** quantum >= Fraction(2) ** TOP_EXPONENT[type]:
        return as_type(type, sign * math.inf)
    return as_type(type, sign * math.ldexp(int(whole), quantum))


def as_type(type: Scalar, value: float) -> Any:
    return CLASSES[type](value)


def bits(value: Any) -> str:
    """What a value is, to the bit, with all NaNs the same."""
    if isinstance(value, np.float16):
        return "nan" if value != value else "f16:" + struct.pack(">e", value).hex()
    if isinstance(value, np.float32):
        return "nan" if value != value else "f32:" + struct.pack(">f", value).hex()
    if isinstance(value, float):
        return "nan" if value != value else "f64:" + struct.pack(">d", value).hex()
    return repr(value)


def floats_of(type: Scalar) -> list[Any]:
    """Corner values: zeros, subnormals, neighbours of 1 and of the limits, halves, infinities, NaN."""
    least = math.ldexp(1.0, LEAST_EXPONENT[type])
    normal = math.ldexp(1.0, LEAST_EXPONENT[type] + PRECISION[type] - 1)
    most = float(np.finfo(np.float32 if type is Scalar.F32 else np.float64).max)
    step = math.ldexp(1.0, 1 - PRECISION[type])
    positive = [0.0, least, 3 * least, normal - least, normal, 0.1, 0.5, 1.0 - step / 2, 1.0, 1.0 + step, 1.5, 2.5]
    positive += [3.0, 7.0, math.ldexp(1.0, PRECISION[type]) - 1, math.ldexp(1.0, PRECISION[type]), 2.0**31, 2.0**63]
    positive += [1e10, most, math.inf]
    return [as_type(type, sign * v) for v in positive for sign in (1.0, -1.0)] + [as_type(type, math.nan)]


def near_ties(type: Scalar, seed: int, count: int) -> list[Fraction]:
    """Rationals at and around the middle between neighbours of a float type, from the least subnormal to the overflow:
    the tie, and what lies beside it by an f32's and by an f64's last bit, where a rounding on the way would meet it."""
    random = np.random.default_rng(seed)
    found: list[Fraction] = []
    top = TOP_EXPONENT[type] - PRECISION[type]
    for _ in range(count):
        quantum = int(random.integers(LEAST_EXPONENT[type], top + 1))
        subnormal = quantum == LEAST_EXPONENT[type]
        whole = int(random.integers(0 if subnormal else 1 << (PRECISION[type] - 1), 1 << PRECISION[type]))
        found += _around(Fraction(2 * whole + 1, 2) * Fraction(2) ** quantum)
    last = (1 << PRECISION[type]) - 1
    return found + _around(Fraction(2 * last + 1, 2) * Fraction(2) ** top) + _around(Fraction(1, 2) ** 200)


def _around(tie: Fraction) -> list[Fraction]:
    apart = [Fraction(0), *(Fraction(2) ** -bits for bits in (22, 23, 24, 30, 40, 45, 51, 52))]
    return [sign * tie * (1 + side * offset) for offset in apart for side in (1, -1) for sign in (1, -1)]


def integers_of(type: Scalar) -> list[int]:
    """Corner values of an integer type."""
    low, high = type.minimum, type.maximum
    near = {0, 1, 2, 3, 7, 31, 32, 63, 64, 255, 46341, low, low + 1, high, high - 1, high // 2, -1, -2, -7, 1 << 31}
    return sorted(v for v in near if low <= v <= high)
