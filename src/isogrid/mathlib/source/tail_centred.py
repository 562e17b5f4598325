"""Tail builds of tanh, atan, asinh and erf in f32: a polynomial in |x| - c around the centre c of one of 32 intervals.

The intervals are those of the upper bits of |x| plus an offset: eight to each doubling of that, from 0 to about 10.
Centres are chosen so that value and slope there are next to f32 numbers; the coefficients lie in tables.
"""

import math

import isogrid as ig
from isogrid import f32, w32
from isogrid.mathlib.source.quick_error import erf_f32_quick
from isogrid.mathlib.source.quick_exponential import tanh_f32_quick
from isogrid.mathlib.source.quick_inverse import atan_f32_quick
from isogrid.mathlib.source.quick_logarithm import asinh_f32_quick
from isogrid.mathlib.source.tail import settled_f32
from isogrid.mathlib.source.tail_tables import (
    ASINH_2,
    ASINH_3,
    ASINH_4,
    ASINH_5,
    ASINH_6,
    ASINH_CENTRES,
    ASINH_MARGINS,
    ASINH_SLOPES,
    ASINH_VALUES,
    ATAN_2,
    ATAN_3,
    ATAN_4,
    ATAN_5,
    ATAN_6,
    ATAN_CENTRES,
    ATAN_MARGINS,
    ATAN_SLOPES,
    ATAN_VALUES,
    ERF_2,
    ERF_3,
    ERF_4,
    ERF_5,
    ERF_6,
    ERF_CENTRES,
    ERF_MARGINS,
    ERF_SLOPE_TAILS,
    ERF_SLOPES,
    ERF_VALUES,
    TANH_2,
    TANH_3,
    TANH_4,
    TANH_5,
    TANH_6,
    TANH_BELOW,
    TANH_CENTRES,
    TANH_SCALE,
    TANH_SLOPES,
    TANH_VALUES,
)


@ig.func
def interval(a: f32, offset: f32) -> int:
    """The number of the interval of a >= 0, modulo 32."""
    return int((ig.bitcast(w32, a + offset) >> 20) & 31)


@ig.func
def around(d: f32, value: f32, slope: f32, curve: f32, c3: f32, c4: f32, c5: f32, c6: f32) -> tuple[f32, f32]:
    """value + slope d, and its rounding error, d^2 and the rest.

    The term of d^2 is the largest of the small ones: its product is exact but for the last rounding.
    """
    s = ig.fma(slope, d, value)
    square = d * d
    p = ig.fma(ig.fma(c6, d, c5), square, ig.fma(c4, d, c3))
    rest = ig.fma(p, square * d, ig.fma(curve, ig.fma(d, d, -square), ig.fma(slope, d, value - s)))
    return s, ig.fma(curve, square, rest)


@ig.func
def tanh_f32(x: f32) -> f32:
    """Value + (slope + curve d + ...) d: the factor of d as a sum of two f32, so that the rest is rounded in d^3 only.

    The sum is never too small, so that one margin is enough. From 9.11 on the count is infinite and the value 1; there
    d may be anything that is finite.
    """
    a = abs(x)
    j = int((ig.bitcast(w32, ig.fma(a, TANH_SCALE * 2.0**124, 1.125 * 2.0**124)) >> 20) & 31)
    d = a - TANH_CENTRES[j]
    value, slope, curve = TANH_VALUES[j], TANH_SLOPES[j], TANH_2[j]
    p = ig.fma(ig.fma(ig.fma(TANH_6[j], d, TANH_5[j]), d, TANH_4[j]), d, TANH_3[j])
    factor = ig.fma(curve, d, slope)
    rest = ig.fma(p, d * d, ig.fma(curve, d, slope - factor))
    s = ig.fma(factor, d, value)
    low = ig.fma(rest, d, ig.fma(factor, d, value - s))
    most = s + low
    y = math.copysign(most, x)
    if most != s + ig.fma(s, TANH_BELOW[j], low):
        y = tanh_f32_quick(x)
    return y


@ig.func
def atan_f32(x: f32) -> f32:
    a = abs(x)
    j = interval(a, 0.75)
    s, low = around(
        a - ATAN_CENTRES[j], ATAN_VALUES[j], ATAN_SLOPES[j], ATAN_2[j], ATAN_3[j], ATAN_4[j], ATAN_5[j], ATAN_6[j]
    )
    y, good = settled_f32(s, low, ATAN_MARGINS[j])
    y = math.copysign(y, x)
    if not (good & (a <= 11.2)):
        y = atan_f32_quick(x)
    return y


@ig.func
def asinh_f32(x: f32) -> f32:
    a = abs(x)
    j = interval(a, 0.75)
    s, low = around(
        a - ASINH_CENTRES[j],
        ASINH_VALUES[j], ASINH_SLOPES[j], ASINH_2[j], ASINH_3[j], ASINH_4[j], ASINH_5[j], ASINH_6[j],
    )  # fmt: skip
    y, good = settled_f32(s, low, ASINH_MARGINS[j])
    y = math.copysign(y, x)
    if not (good & (a <= 11.2)):
        y = asinh_f32_quick(x)
    return y


@ig.func
def erf_f32(x: f32) -> f32:
    """1 from 4 on. The slope at 0 is no f32: its tail is in a table too."""
    a = ig.bitcast(f32, min(ig.bitcast(w32, x) & 0x7FFFFFFF, w32(0x40800000)))
    j = interval(a, 0.28125)
    d = a - ERF_CENTRES[j]
    s, low = around(d, ERF_VALUES[j], ERF_SLOPES[j], ERF_2[j], ERF_3[j], ERF_4[j], ERF_5[j], ERF_6[j])
    low = ig.fma(d, ERF_SLOPE_TAILS[j], low)
    y, good = settled_f32(s, low, ERF_MARGINS[j])
    y = math.copysign(y, x)
    # Below 2^-100 the rounding error of the product would be subnormal; 0 has none.
    ordinary = ig.bitcast(w32, a) - 1 >= w32(0x0D800000 - 1)
    if not (good & ordinary & (x == x)):
        y = erf_f32_quick(x)
    return y
