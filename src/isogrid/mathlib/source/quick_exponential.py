"""Quick builds of the f32 exponentials: the series of `exponential` with a shorter polynomial, all in f64."""

import math

import isogrid as ig
from isogrid import f32, f64, w64
from isogrid.mathlib.source.constants import (
    LN2_HIGH,
    LOG2_10,
    LOG2_E,
    LOG10_2,
    QUICK_EXP2_FIRST,
    QUICK_EXP2_REST,
    QUICK_EXP10_FIRST,
    QUICK_EXP10_REST,
    QUICK_EXP_FIRST,
    QUICK_EXP_REST,
    QUICK_EXPM1_FIRST,
    QUICK_EXPM1_REST,
)
from isogrid.mathlib.source.exponential import (
    SHIFTER,
    cosh_f32_pair,
    exp2_f32_pair,
    exp10_f32_pair,
    exp_f32_pair,
    expm1_f32_pair,
    sinh_f32_pair,
    tanh_f32_pair,
)
from isogrid.mathlib.source.quick import inverse, settled


@ig.func
def inside(x: f32, bound: f32) -> f64:
    """x brought into -bound..bound; a NaN becomes the bound."""
    x = ig.select(x < bound, x, bound)
    return f64(ig.select(x > -bound, x, -bound))


@ig.func
def times_power(p: f64, shifted: f64) -> f64:
    """p * 2^k for the integer k in the low bits of `shifted`, p and the product normal."""
    return ig.bitcast(f64, ig.bitcast(w64, p) + (ig.bitcast(w64, shifted) << 52))


@ig.func
def exp_f32_quick(x: f32) -> f32:
    a = inside(x, 200.0)
    shifted = ig.fma(a, LOG2_E, SHIFTER)
    r = ig.fma(-(shifted - SHIFTER), LN2_HIGH, a)
    p = f64(QUICK_EXP_FIRST)
    for j in range(len(QUICK_EXP_REST)):
        p = ig.fma(p, r, QUICK_EXP_REST[j])
    y, good = settled(times_power(p, shifted))
    if not (good & (x == x)):
        y = exp_f32_pair(x)
    return y


@ig.func
def exp2_f32_quick(x: f32) -> f32:
    a = inside(x, 300.0)
    shifted = a + SHIFTER
    r = a - (shifted - SHIFTER)
    p = f64(QUICK_EXP2_FIRST)
    for j in range(len(QUICK_EXP2_REST)):
        p = ig.fma(p, r, QUICK_EXP2_REST[j])
    y, good = settled(times_power(p, shifted))
    if not (good & (x == x)):
        y = exp2_f32_pair(x)
    return y


@ig.func
def exp10_f32_quick(x: f32) -> f32:
    a = inside(x, 100.0)
    shifted = ig.fma(a, LOG2_10, SHIFTER)
    r = ig.fma(-(shifted - SHIFTER), LOG10_2, a)
    p = f64(QUICK_EXP10_FIRST)
    for j in range(len(QUICK_EXP10_REST)):
        p = ig.fma(p, r, QUICK_EXP10_REST[j])
    y, good = settled(times_power(p, shifted))
    if not (good & (x == x)):
        y = exp10_f32_pair(x)
    return y


@ig.func
def expm1_quick(a: f64) -> f64:
    """e^a - 1 for |a| <= 400."""
    shifted = ig.fma(a, LOG2_E, SHIFTER)
    r = ig.fma(-(shifted - SHIFTER), LN2_HIGH, a)
    p = f64(QUICK_EXPM1_FIRST)
    for j in range(len(QUICK_EXPM1_REST)):
        p = ig.fma(p, r, QUICK_EXPM1_REST[j])
    s = times_power(1.0, shifted)
    return ig.fma(s, p * r, s - 1.0)


@ig.func
def expm1_f32_quick(x: f32) -> f32:
    y, good = settled(expm1_quick(inside(x, 200.0)))
    y = ig.select(x == 0.0, x, y)
    if not (good & (x == x)):
        y = expm1_f32_pair(x)
    return y


@ig.func
def magnitude(x: f32, bound: f32) -> f64:
    """|x|, at most the bound; a NaN becomes the bound."""
    a = abs(x)
    return f64(ig.select(a < bound, a, bound))


@ig.func
def sinh_f32_quick(x: f32) -> f32:
    """(m + m / (m + 1)) / 2 with m = e^|x| - 1; the quotient is at most 1."""
    a = magnitude(x, 95.0)
    m = expm1_quick(a)
    limited = ig.select(a < 40.0, m, f64(2.0e17))
    y, good = settled(0.5 * ig.fma(limited, inverse(limited + 1.0), m))
    y = math.copysign(y, x)
    if not (good & (x == x)):
        y = sinh_f32_pair(x)
    return y


@ig.func
def cosh_f32_quick(x: f32) -> f32:
    """(e + 1/e) / 2 with e = e^|x|; the inverse counts for |x| < 40 only."""
    a = magnitude(x, 95.0)
    e = expm1_quick(a) + 1.0
    y, good = settled(0.5 * (e + inverse(ig.select(a < 40.0, e, f64(2.0e17)))))
    if not (good & (x == x)):
        y = cosh_f32_pair(x)
    return y


@ig.func
def tanh_f32_quick(x: f32) -> f32:
    """m / (m + 2) with m = e^2|x| - 1."""
    m = expm1_quick(2.0 * magnitude(x, 15.0))
    y, good = settled(m * inverse(m + 2.0))
    y = math.copysign(y, x)
    if not (good & (x == x)):
        y = tanh_f32_pair(x)
    return y
