"""Quick builds of tgamma and lgamma for f32: Stirling's series at X = a + n >= 8 and the product up to it, in f64."""

import math

import isogrid as ig
from isogrid import f32, f64
from isogrid.mathlib.source.constants import (
    GAMMA_ONE_FIRST,
    GAMMA_ONE_PAIRS,
    GAMMA_ONE_TAIL,
    GAMMA_TWO_FIRST,
    GAMMA_TWO_PAIRS,
    GAMMA_TWO_TAIL,
    HALF_LOG_TWO_PI_HIGH,
    LN2_HIGH,
    LOG2_E,
    LONG_LOG_FIRST,
    LONG_LOG_REST,
    PI_HIGH,
    QUICK_EXP_FIRST,
    QUICK_EXP_REST,
    STIRLING_FIRST,
    STIRLING_TAIL,
    TWELFTH_HIGH,
)
from isogrid.mathlib.source.exponential import SHIFTER
from isogrid.mathlib.source.gamma import lgamma_f32_pair, tgamma_f32_pair
from isogrid.mathlib.source.logarithm import split
from isogrid.mathlib.source.quick import settled
from isogrid.mathlib.source.quick_circular import sine
from isogrid.mathlib.source.quick_exponential import times_power


@ig.func
def long_log(x: f64) -> f64:
    """log x for a positive normal x, with an error of 2^-50."""
    k, m = split(x)
    f = m - 1.0
    # Odd and even powers side by side: one chain of 17 would be what a processor waits for.
    square = f * f
    odd, even = f64(LONG_LOG_FIRST), f64(LONG_LOG_REST[0])
    for j in range(8):
        odd = ig.fma(odd, square, LONG_LOG_REST[2 * j + 1])
        even = ig.fma(even, square, LONG_LOG_REST[2 * j + 2])
    return ig.fma(k, LN2_HIGH, ig.fma(square, ig.fma(odd, f, even), f))


@ig.func
def product_and_log(a: f64) -> tuple[f64, f64]:
    """a (a + 1) ... (a + n - 1) and log Gamma(a + n) for a > 0."""
    x, p = a, f64(1.0)
    for _ in range(8):
        low = x < 8.0
        p = ig.select(low, p * x, p)
        x = ig.select(low, x + 1.0, x)
    r = 1.0 / x
    w = r * r
    t = f64(STIRLING_FIRST)
    for j in range(len(STIRLING_TAIL)):
        t = ig.fma(t, w, STIRLING_TAIL[j])
    rest = ig.fma(r, ig.fma(w, t, TWELFTH_HIGH), HALF_LOG_TWO_PI_HIGH)
    return p, ig.fma(x - 0.5, long_log(x), rest - x)


@ig.func
def sine_of_turn(a: f64) -> tuple[f64, bool]:
    """sin(pi a), and whether a is no integer."""
    shifted = a + SHIFTER
    r = a - (shifted - SHIFTER)
    return sine(r * PI_HIGH, shifted), r != 0.0


@ig.func
def tgamma_f32(x: f32) -> f32:
    """e^log Gamma(X) over the product; -pi / (a sin(pi a) Gamma(a)) below zero. From 36 on it is what it is there."""
    negative = x < 0.0
    ordinary = (x > -45.0) & (abs(x) > 1e-30)
    a = f64(min(abs(ig.select(ordinary, x, f32(1.5))), f32(36.0)))
    p, log = product_and_log(a)
    shifted = ig.fma(log, LOG2_E, SHIFTER)
    r = ig.fma(-(shifted - SHIFTER), LN2_HIGH, log)
    e = f64(QUICK_EXP_FIRST)
    for j in range(len(QUICK_EXP_REST)):
        e = ig.fma(e, r, QUICK_EXP_REST[j])
    e = times_power(e, shifted)
    turned, broken = sine_of_turn(a)
    below = a * turned * e
    y, good = settled(ig.select(negative, -PI_HIGH * p, e) / ig.select(negative, below, p))
    if not (good & ordinary & (broken | (x > 0.0))):
        y = tgamma_f32_pair(x)
    return y


@ig.func
def near_one_or_two(e: f64, two: bool) -> f64:
    """log Gamma(1 + e) or log Gamma(2 + e) for |e| <= 2^-6: the series of the pair build."""
    s, t = f64(GAMMA_ONE_FIRST), f64(GAMMA_TWO_FIRST)
    for j in range(len(GAMMA_ONE_TAIL)):
        s = ig.fma(s, e, GAMMA_ONE_TAIL[j])
    for j in range(len(GAMMA_ONE_PAIRS)):
        s = ig.fma(s, e, GAMMA_ONE_PAIRS[j, 0])
    for j in range(len(GAMMA_TWO_TAIL)):
        t = ig.fma(t, e, GAMMA_TWO_TAIL[j])
    for j in range(len(GAMMA_TWO_PAIRS)):
        t = ig.fma(t, e, GAMMA_TWO_PAIRS[j, 0])
    return e * ig.select(two, t, s)


@ig.func
def lgamma_f32(x: f32) -> f32:
    """log Gamma(X) less the logarithm of the product; below zero log(pi / (a |sin(pi a)|)) less that.

    The error is absolute, below 2^-47 above 0 and 2^-41 below it: next to the zeros at 1 and 2 it is a series, next to
    those below 0 the pair build decides.
    """
    negative = x < 0.0
    # From -2^23 down every argument is an integer, a pole.
    ordinary = (abs(x) > 1e-30) & (x < math.inf) & (x > -8388608.0)
    a = f64(abs(ig.select(ordinary, x, f32(1.5))))
    p, log = product_and_log(a)
    turned, broken = sine_of_turn(ig.select(negative, a, f64(0.5)))
    q = ig.select(negative, PI_HIGH * p / (a * abs(turned)), p)
    rest = long_log(ig.select(broken, q, f64(1.0)))
    wide = ig.select(negative, rest - log, log - rest)
    two = a > 1.5
    e = ig.select(two, a - 2.0, a - 1.0)
    near = (x > 0.0) & (abs(e) <= 0.015625)
    if near:
        wide = near_one_or_two(e, two)
    y, good = settled(wide)
    certain = near | (abs(wide) > ig.select(negative, f64(0.25), f64(2.0**-8)))
    y = ig.select(wide == 0.0, f32(0.0), y)
    if not (good & ordinary & broken & certain):
        y = lgamma_f32_pair(x)
    return y
