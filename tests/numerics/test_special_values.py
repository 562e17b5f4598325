"""What C's Annex F says of zeros, infinities, NaN and ends of domains, by the meaning in the tables."""

import math
from typing import Any

import numpy as np
import pytest

from isogrid.builtins.meaning import quiet
from isogrid.ir.types import Scalar

from .support import ROWS, UNARY

INF, NAN = math.inf, math.nan
HALF_PI, PI, QUARTER_PI = math.pi / 2, math.pi, math.pi / 4

#: Function, argument, result; irrational results are rounded to the type.
ONE: list[tuple[str, float, float]] = [
    ("exp", -INF, 0.0), ("exp", INF, INF), ("exp", 0.0, 1.0), ("exp", -0.0, 1.0), ("exp", 1000.0, INF),
    ("exp2", -INF, 0.0), ("exp2", INF, INF), ("exp2", -0.0, 1.0), ("exp2", 10.0, 1024.0), ("exp2", -126.0, 2.0**-126),
    ("exp10", -INF, 0.0), ("exp10", INF, INF), ("exp10", -0.0, 1.0), ("exp10", 3.0, 1000.0),
    ("expm1", 0.0, 0.0), ("expm1", -0.0, -0.0), ("expm1", INF, INF), ("expm1", -INF, -1.0), ("expm1", -200.0, -1.0),
    ("log", 0.0, -INF), ("log", -0.0, -INF), ("log", 1.0, 0.0), ("log", -1.0, NAN), ("log", INF, INF),
    ("log", -INF, NAN),
    ("log2", 0.0, -INF), ("log2", 1.0, 0.0), ("log2", -1.0, NAN), ("log2", 2.0**-126, -126.0),
    ("log2", 2.0**-149, -149.0),
    ("log10", -0.0, -INF), ("log10", 1.0, 0.0), ("log10", 1000.0, 3.0), ("log10", -2.0, NAN), ("log10", INF, INF),
    ("log1p", 0.0, 0.0), ("log1p", -0.0, -0.0), ("log1p", -1.0, -INF), ("log1p", -1.5, NAN), ("log1p", INF, INF),
    ("sin", 0.0, 0.0), ("sin", -0.0, -0.0), ("sin", INF, NAN), ("sin", -INF, NAN),
    ("cos", 0.0, 1.0), ("cos", -0.0, 1.0), ("cos", INF, NAN), ("tan", -0.0, -0.0), ("tan", INF, NAN),
    ("sinpi", 0.0, 0.0), ("sinpi", -0.0, -0.0), ("sinpi", 1.0, 0.0), ("sinpi", -1.0, -0.0), ("sinpi", 2.0, 0.0),
    ("sinpi", 0.5, 1.0), ("sinpi", -1.5, 1.0), ("sinpi", INF, NAN), ("sinpi", 1e30, 0.0), ("sinpi", -1e30, -0.0),
    ("cospi", 0.5, 0.0), ("cospi", -0.5, 0.0), ("cospi", 1.5, 0.0), ("cospi", 1.0, -1.0), ("cospi", 1e30, 1.0),
    ("cospi", INF, NAN), ("asin", -0.0, -0.0), ("asin", 1.0, HALF_PI), ("asin", -1.0, -HALF_PI), ("asin", 1.5, NAN),
    ("acos", 1.0, 0.0), ("acos", -1.0, PI), ("acos", 0.0, HALF_PI), ("acos", -0.0, HALF_PI), ("acos", -1.5, NAN),
    ("atan", -0.0, -0.0), ("atan", INF, HALF_PI), ("atan", -INF, -HALF_PI), ("atan", 1.0, QUARTER_PI),
    ("sinh", -0.0, -0.0), ("sinh", INF, INF), ("sinh", -INF, -INF), ("cosh", 0.0, 1.0), ("cosh", -INF, INF),
    ("tanh", -0.0, -0.0), ("tanh", INF, 1.0), ("tanh", -INF, -1.0), ("tanh", 100.0, 1.0),
    ("asinh", -0.0, -0.0), ("asinh", INF, INF), ("asinh", -INF, -INF),
    ("acosh", 1.0, 0.0), ("acosh", 0.5, NAN), ("acosh", INF, INF), ("acosh", -INF, NAN), ("acosh", -5.0, NAN),
    ("atanh", -0.0, -0.0), ("atanh", 1.0, INF), ("atanh", -1.0, -INF), ("atanh", 2.0, NAN),
    ("cbrt", -0.0, -0.0), ("cbrt", INF, INF), ("cbrt", -INF, -INF), ("cbrt", 27.0, 3.0), ("cbrt", -8.0, -2.0),
    ("rsqrt", 0.0, INF), ("rsqrt", -0.0, -INF), ("rsqrt", INF, 0.0), ("rsqrt", -1.0, NAN), ("rsqrt", 4.0, 0.5),
    ("erf", -0.0, -0.0), ("erf", INF, 1.0), ("erf", -INF, -1.0), ("erf", 10.0, 1.0),
    ("erfc", INF, 0.0), ("erfc", -INF, 2.0), ("erfc", 0.0, 1.0), ("erfc", -0.0, 1.0),
    ("tgamma", 0.0, INF), ("tgamma", -0.0, -INF), ("tgamma", -3.0, NAN), ("tgamma", INF, INF), ("tgamma", -INF, NAN),
    ("tgamma", 5.0, 24.0), ("tgamma", 1.0, 1.0), ("tgamma", 1000.0, INF),
    ("lgamma", 1.0, 0.0), ("lgamma", 2.0, 0.0), ("lgamma", 0.0, INF), ("lgamma", -2.0, INF), ("lgamma", -INF, INF),
    ("lgamma", -(2.0**106), INF),
    ("lgamma", INF, INF), ("round_away", 2.5, 3.0), ("round_away", -0.5, -1.0), ("round_away", 0.49999997, 0.0),
    ("round_away", -0.25, -0.0), ("round_away", INF, INF), ("round_away", 8388609.0, 8388609.0),
]  # fmt: skip

TWO: list[tuple[str, float, float, float]] = [
    ("pow", 0.0, -3.0, INF), ("pow", -0.0, -3.0, -INF), ("pow", -0.0, -2.0, INF), ("pow", 0.0, -INF, INF),
    ("pow", -0.0, 3.0, -0.0), ("pow", -0.0, 2.0, 0.0), ("pow", -0.0, 0.5, 0.0), ("pow", -1.0, INF, 1.0),
    ("pow", -1.0, -INF, 1.0), ("pow", 1.0, NAN, 1.0), ("pow", 1.0, INF, 1.0), ("pow", NAN, 0.0, 1.0),
    ("pow", INF, -0.0, 1.0), ("pow", -2.0, 0.5, NAN), ("pow", -2.0, 3.0, -8.0), ("pow", -2.0, 4.0, 16.0),
    ("pow", 0.5, -INF, INF), ("pow", 0.5, INF, 0.0), ("pow", 2.0, -INF, 0.0), ("pow", 2.0, INF, INF),
    ("pow", -INF, -3.0, -0.0), ("pow", -INF, -2.0, 0.0), ("pow", -INF, 3.0, -INF), ("pow", -INF, 2.0, INF),
    ("pow", INF, -1.0, 0.0), ("pow", INF, 0.5, INF), ("pow", NAN, 1.0, NAN), ("pow", 2.0, NAN, NAN),
    ("pow", 3.0, 2.0, 9.0), ("pow", 2.0, 0.5, 2.0**0.5), ("pow", 10.0, 400.0, INF), ("pow", -10.0, 401.0, -INF),
    ("atan2", 0.0, -0.0, PI), ("atan2", -0.0, -0.0, -PI), ("atan2", 0.0, 0.0, 0.0), ("atan2", -0.0, 0.0, -0.0),
    ("atan2", 0.0, -1.0, PI), ("atan2", -0.0, 1.0, -0.0), ("atan2", -1.0, 0.0, -HALF_PI),
    ("atan2", 1.0, -0.0, HALF_PI),
    ("atan2", 1.0, -INF, PI), ("atan2", -1.0, INF, -0.0), ("atan2", INF, 1.0, HALF_PI), ("atan2", INF, INF, QUARTER_PI),
    ("atan2", -INF, -INF, -3 * QUARTER_PI), ("atan2", NAN, 1.0, NAN), ("atan2", 1.0, NAN, NAN),
    ("atan2", 1.0, 1.0, QUARTER_PI),
    ("hypot", INF, NAN, INF), ("hypot", NAN, -INF, INF), ("hypot", NAN, 1.0, NAN), ("hypot", 3.0, 4.0, 5.0),
    ("hypot", -0.0, 0.0, 0.0), ("hypot", -7.0, 0.0, 7.0), ("remainder", 5.0, 2.0, 1.0), ("remainder", 7.0, 2.0, -1.0),
    ("remainder", -5.0, 2.0, -1.0), ("remainder", 4.0, 2.0, 0.0), ("remainder", -4.0, 2.0, -0.0),
    ("remainder", 1.0, 0.0, NAN), ("remainder", INF, 1.0, NAN), ("remainder", 3.0, INF, 3.0),
    ("remainder", 1.0, NAN, NAN),
    ("nextafter", 0.0, -0.0, -0.0), ("nextafter", NAN, 1.0, NAN), ("nextafter", INF, INF, INF),
]  # fmt: skip

TYPES = [Scalar.F32, Scalar.F64]


def same(found: Any, wanted: Any) -> bool:
    if wanted != wanted:
        return bool(found != found)
    return bool(found == wanted) and math.copysign(1.0, found) == math.copysign(1.0, wanted)


@pytest.mark.parametrize("type", TYPES, ids=lambda t: t.value)
def test_special_values(type: Scalar) -> None:
    number = type.numpy.type
    with quiet():
        for name, *arguments, wanted in [*ONE, *TWO]:
            values = [number(value) for value in arguments]
            if name.startswith("round") and arguments[0] == 0.49999997:
                values = [np.nextafter(number(0.5), number(0))]
            found = ROWS[name].meaning(type, *values)
            assert same(found, number(wanted)), (name, *values, found, wanted)


@pytest.mark.parametrize("type", TYPES, ids=lambda t: t.value)
def test_nan_gives_nan(type: Scalar) -> None:
    with quiet():
        for name in UNARY:
            assert ROWS[name].meaning(type, type.numpy.type(NAN)) != 0, name
            assert np.isnan(ROWS[name].meaning(type, type.numpy.type(NAN))), name


def test_every_function_has_special_values() -> None:
    listed = {name for name, *_ in [*ONE, *TWO]}
    assert {row for row in ROWS if not row.startswith(("frexp", "ldexp"))} == listed


@pytest.mark.parametrize("type", TYPES, ids=lambda t: t.value)
def test_parts_and_scales(type: Scalar) -> None:
    number = type.numpy.type
    least, most = np.finfo(number).smallest_subnormal, np.finfo(number).max
    with quiet():
        for x in [0.0, -0.0, 1.0, -0.75, 3.0, float(least), float(most), INF, -INF]:
            m, e = np.frexp(number(x))
            assert same(ROWS["frexp_mantissa"].meaning(type, number(x)), m)
            if math.isfinite(x):
                assert ROWS[f"frexp_exponent_{type.value}"].meaning(Scalar.I32, number(x)) == e
            for i in (0, 1, -1, 30, -149, -1074, 2098, -2098, 2**40, -(2**40)):
                wanted = np.ldexp(number(x), max(min(i, 5000), -5000))
                assert same(ROWS["ldexp"].meaning(type, number(x), i), wanted), (x, i)
