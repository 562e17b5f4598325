"""erf and erfc in pairs.

Below 0.85 Taylor's series of erf, the terms from x^15 on in f64; above it erfc x = e^(-x^2) p(t) / (x + 4) with
t = (x - 4) / (x + 4), the coefficients from t^14 on in f64: relative errors below 2^-70. The square of x is exact as a
pair.
"""

import math

import isogrid as ig
from isogrid import f32, f64
from isogrid.mathlib.source.constants import (
    ERF_FIRST,
    ERF_PAIRS,
    ERF_TAIL,
    ERFC_FIRST,
    ERFC_PAIRS,
    ERFC_TAIL,
)
from isogrid.mathlib.source.exponential import exp_pair, power_of_two, scaled
from isogrid.mathlib.source.pairs import add, add_one, divide, multiply, narrow, step, to_odd, two_product, two_sum

#: Where the two ways meet.
MIDDLE = 0.85
#: 2 / sqrt(pi), for arguments whose products with a pair would be subnormal.
SLOPE = 1.1283791670955126


@ig.func
def erf_series(a: f64) -> tuple[f64, f64]:
    """erf a for 0 <= a <= 0.85."""
    zh, zl = two_product(a, a)
    t = f64(ERF_FIRST)
    for j in range(len(ERF_TAIL)):
        t = ig.fma(t, zh, ERF_TAIL[j])
    h, l = t, f64(0.0)
    for j in range(len(ERF_PAIRS)):
        h, l = step(zh, zl, h, l, ERF_PAIRS[j, 0], ERF_PAIRS[j, 1])
    return multiply(h, l, a, 0.0)


@ig.func
def erfc_large(a: f64) -> tuple[f64, f64, f64]:
    """k and the pair e with erfc a = e * 2^k, for 0.84 <= a <= 27.3."""
    dh, dl = two_sum(a, 4.0)
    nh, nl = two_sum(a, -4.0)
    th, tl = divide(nh, nl, dh, dl)
    p = f64(ERFC_FIRST)
    for j in range(len(ERFC_TAIL)):
        p = ig.fma(p, th, ERFC_TAIL[j])
    h, l = p, f64(0.0)
    for j in range(len(ERFC_PAIRS)):
        h, l = multiply(th, tl, h, l)
        h, l = add(h, l, ERFC_PAIRS[j, 0], ERFC_PAIRS[j, 1])
    h, l = divide(h, l, dh, dl)
    sh, sl = two_product(a, a)
    k, eh, el = exp_pair(-sh, -sl)
    h, l = multiply(h, l, eh, el)
    return k, h, l


@ig.func
def erf_pair(a: f64) -> tuple[f64, f64]:
    """erf a for a >= 0: 1 to the last bit of a pair from 7 on."""
    sh, sl = erf_series(min(a, MIDDLE))
    k, h, l = erfc_large(max(min(a, 7.0), MIDDLE))
    scale = power_of_two(k)
    lh, ll = add(1.0, 0.0, -h * scale, -l * scale)
    small = a < MIDDLE
    return ig.select(small, sh, lh), ig.select(small, sl, ll)


@ig.func
def erfc_pair(x: f64) -> tuple[f64, f64, f64]:
    """k and the pair e with erfc x = e * 2^k."""
    a = abs(x)
    sh, sl = erf_series(min(a, MIDDLE))
    sh, sl = add_one(ig.select(x < 0.0, sh, -sh), ig.select(x < 0.0, sl, -sl), 1.0)
    k, h, l = erfc_large(max(min(a, 27.3), MIDDLE))
    scale = power_of_two(max(k, -1000.0))
    nh, nl = add(2.0, 0.0, -h * scale, -l * scale)
    small, negative = a < MIDDLE, x < 0.0
    h = ig.select(small, sh, ig.select(negative, nh, h))
    l = ig.select(small, sl, ig.select(negative, nl, l))
    return ig.select(small | negative, f64(0.0), k), h, l


@ig.func
def erf_f64(x: f64) -> f64:
    a = abs(x)
    h, l = erf_pair(a)
    y = ig.select(a < 1e-280, SLOPE * a, h + l)
    return ig.select(x == x, math.copysign(y, x), x)


@ig.func
def erf_f32_pair(x: f32) -> f32:
    h, l = erf_pair(f64(abs(x)))
    return ig.select(x == x, math.copysign(narrow(h, l), x), x)


@ig.func
def erfc_f64(x: f64) -> f64:
    k, h, l = erfc_pair(x)
    return ig.select(x > 27.3, f64(0.0), ig.select(x == x, scaled(k, h, l), x))


@ig.func
def erfc_f32_pair(x: f32) -> f32:
    k, h, l = erfc_pair(ig.select(x < 20.0, f64(x), f64(20.0)))
    return ig.select(x == x, f32(to_odd(h, l) * power_of_two(k)), x)
