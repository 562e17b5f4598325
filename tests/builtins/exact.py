"""Independent arithmetic to hold the tables to: rationals rounded once to a binary format, written apart from them."""

import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np

from isogrid.ir.types import Scalar

PRECISION = {Scalar.F32: 24, Scalar.F64: 53}
LEAST_EXPONENT = {Scalar.F32: -149, Scalar.F64: -1074}
TOP_EXPONENT = {Scalar.F32: 128, Scalar.F64: 1024}


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
    return np.float32(value) if type is Scalar.F32 else np.float64(value)


def bits(value: Any) -> str:
    """What a value is, to the bit, with all NaNs the same."""
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


def integers_of(type: Scalar) -> list[int]:
    """Corner values of an integer type."""
    low, high = type.minimum, type.maximum
    near = {0, 1, 2, 3, 7, 31, 32, 63, 64, 255, 46341, low, low + 1, high, high - 1, high // 2, -1, -2, -7, 1 << 31}
    return sorted(v for v in near if low <= v <= high)
