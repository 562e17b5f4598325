"""pow: e^(y log |x|), the logarithm and the product as pairs; then the special values of C's Annex F.

The f32 build tries one f64 first: y log |x| is at most 104 where the result is neither 0 nor infinite, so a logarithm
with a relative error of 2^-49 leaves 2^-42 in the exponent.
"""

import math

import isogrid as ig
from isogrid import f32, f64
from isogrid.mathlib.source.constants import (
    LN2_HIGH,
    LOG2_E,
    LONG_LOG_FIRST,
    LONG_LOG_REST,
    QUICK_EXP_FIRST,
    QUICK_EXP_REST,
)
from isogrid.mathlib.source.exponential import SHIFTER, exp_pair, power_of_two, scaled
from isogrid.mathlib.source.logarithm import log_pair, split
from isogrid.mathlib.source.pairs import multiply_one, to_odd
from isogrid.mathlib.source.quick import settled
from isogrid.mathlib.source.quick_exponential import times_power

#: Exponents beyond it do not change a result: log |x| is at least 2^-54, or 0.
LARGEST = 2.0**80


@ig.func
def power_pair(a: f64, y: f64, bound: f64) -> tuple[f64, f64, f64]:
    """k and the pair e with a^y = e * 2^k, for a finite a > 0 and any y but NaN; y log a is cut to the bound."""
    lh, ll = log_pair(a)
    y = ig.select(y > LARGEST, f64(LARGEST), ig.select(y < -LARGEST, f64(-LARGEST), y))
    ph, pl = multiply_one(lh, ll, y)
    cut = abs(ph) > bound
    ph = ig.select(cut, math.copysign(bound, ph), ph)
    return exp_pair(ph, ig.select(cut, f64(0.0), pl))


@ig.func
def is_odd(y: f64) -> bool:
    """Whether y is an odd integer."""
    half = 0.5 * y
    return (math.floor(y) == y) & (math.floor(half) != half) & (abs(y) < math.inf)


@ig.func
def power_special(x: f64, y: f64, magnitude: f64) -> f64:
    """What pow(x, y) is, given |x|^y for finite arguments that are not 0."""
    a = abs(x)
    up = y > 0.0
    edge = ig.select(up, f64(0.0), f64(math.inf))
    magnitude = ig.select(a == 0.0, edge, magnitude)
    magnitude = ig.select(a == math.inf, ig.select(up, f64(math.inf), f64(0.0)), magnitude)
    grows = (a > 1.0) == up
    limit = ig.select(a == 1.0, f64(1.0), ig.select(grows, f64(math.inf), f64(0.0)))
    magnitude = ig.select(abs(y) == math.inf, limit, magnitude)
    whole = math.floor(y) == y
    result = ig.select(ig.signbit(x) & is_odd(y), -magnitude, magnitude)
    result = ig.select((x < 0.0) & (a < math.inf) & (not whole), f64(math.nan), result)
    result = ig.select((x != x) | (y != y), f64(math.nan), result)
    return ig.select((y == 0.0) | (x == 1.0), f64(1.0), result)


@ig.func
def pow_f64(x: f64, y: f64) -> f64:
    a = abs(x)
    ordinary = (a > 0.0) & (a < math.inf)
    k, h, l = power_pair(ig.select(ordinary, a, f64(1.0)), y, 800.0)
    return power_special(x, y, scaled(k, h, l))


@ig.func
def is_tie_exponent(y: f64) -> bool:
    """Whether x^y may lie exactly between two f32: y = n / 8 with 0 < n / 8 < 16, as 3^16 has more than 25 bits."""
    eighths = 8.0 * y
    return (math.floor(eighths) == eighths) & (y > 0.0) & (y < 16.0)


@ig.func
def narrow_power(k: f64, h: f64, l: f64, y: f64) -> f32:
    """(h + l) * 2^k as f32. What is within 2^-66 of 26 bits is taken to have just these where y allows it."""
    scale = power_of_two(k)
    unit = ig.fma(h, 134217729.0, 0.0)
    near = unit - (unit - h)
    exact = (abs((h - near) + l) < 1.3552527156068805e-20) & (is_tie_exponent(y) | (near == 1.0) | (near == 2.0))
    return f32(ig.select(exact, near * scale, to_odd(h, l) * scale))


@ig.func
def pow_f32_pair(x: f32, y: f32) -> f32:
    a = abs(f64(x))
    ordinary = (a > 0.0) & (a < math.inf)
    k, h, l = power_pair(ig.select(ordinary, a, f64(1.0)), f64(y), 120.0)
    return f32(power_special(f64(x), f64(y), f64(narrow_power(k, h, l, f64(y)))))


@ig.func
def pow_f32(x: f32, y: f32) -> f32:
    """Positive, finite x and finite y by one f64; everything else, and what is not settled, by the pair build."""
    ordinary = (x > 0.0) & (x < math.inf) & (abs(y) < math.inf)
    k, m = split(f64(ig.select(ordinary, x, f32(1.0))))
    f = m - 1.0
    q = f64(LONG_LOG_FIRST)
    # Two loops: one of more than 16 trips would stay a loop.
    for j in range(8):
        q = ig.fma(q, f, LONG_LOG_REST[j])
    for j in range(8, 17):
        q = ig.fma(q, f, LONG_LOG_REST[j])
    e = f64(ig.select(ordinary, y, f32(1.0))) * ig.fma(k, LN2_HIGH, ig.fma(f * f, q, f))
    e = ig.select(e > 200.0, f64(200.0), ig.select(e < -200.0, f64(-200.0), e))
    shifted = ig.fma(e, LOG2_E, SHIFTER)
    r = ig.fma(-(shifted - SHIFTER), LN2_HIGH, e)
    p = f64(QUICK_EXP_FIRST)
    for j in range(len(QUICK_EXP_REST)):
        p = ig.fma(p, r, QUICK_EXP_REST[j])
    z, good = settled(times_power(p, shifted))
    if not (good & ordinary):
        z = pow_f32_pair(x, y)
    return z
