"""tgamma and lgamma in pairs.

For a > 0: Stirling's series at X = a + n >= 16, and the product a (a + 1) ... (a + n - 1) up to it. Near 1 and 2
the logarithm is Taylor's series. Below zero the reflection, Gamma(-a) = -pi / (a sin(pi a) Gamma(a)). The logarithm
of gamma has an absolute error below 2^-70; next to its zeros below zero the f64 result is a series around the zero.
"""

import math

import isogrid as ig
from isogrid import f32, f64, w64
from isogrid.mathlib.source.circular import half_turns, quarter
from isogrid.mathlib.source.constants import (
    GAMMA_CURVE,
    GAMMA_FOURTH,
    GAMMA_ONE_FIRST,
    GAMMA_ONE_PAIRS,
    GAMMA_ONE_TAIL,
    GAMMA_SLOPE_HIGH,
    GAMMA_SLOPE_LOW,
    GAMMA_THIRD,
    GAMMA_TWO_FIRST,
    GAMMA_TWO_PAIRS,
    GAMMA_TWO_TAIL,
    GAMMA_ZERO_HIGH,
    GAMMA_ZERO_LOW,
    GAMMA_ZERO_VALUE,
    HALF_LOG_TWO_PI_HIGH,
    HALF_LOG_TWO_PI_LOW,
    LOG_PI_HIGH,
    LOG_PI_LOW,
    PI_HIGH,
    PI_LOW,
    STIRLING_FIRST,
    STIRLING_TAIL,
    TWELFTH_HIGH,
    TWELFTH_LOW,
)
from isogrid.mathlib.source.exponential import SHIFTER, exp_pair, power_of_two, scaled
from isogrid.mathlib.source.logarithm import log1p_series, log_pair, split, with_exponent
from isogrid.mathlib.source.pairs import (
    add,
    add_one,
    divide,
    multiply,
    multiply_one,
    narrow,
    step,
    to_odd,
    two_sum,
)


@ig.func
def log_of_pair(xh: f64, xl: f64) -> tuple[f64, f64]:
    """The logarithm of a positive pair."""
    k, m = split(xh)
    fh, fl = two_sum(m - 1.0, xl * power_of_two(max(-k, -1000.0)))
    h, l = log1p_series(fh, fl)
    return with_exponent(k, h, l)


@ig.func
def risen(a: f64) -> tuple[f64, f64, f64, f64]:
    """X = a + n >= 16 and the product of a, a + 1, ..., a + n - 1, as pairs, for a > 0."""
    xh, xl, ph, pl = a, f64(0.0), f64(1.0), f64(0.0)
    for _ in range(16):
        low = xh < 16.0
        qh, ql = multiply(ph, pl, xh, xl)
        yh, yl = add_one(xh, xl, 1.0)
        ph, pl = ig.select(low, qh, ph), ig.select(low, ql, pl)
        xh, xl = ig.select(low, yh, xh), ig.select(low, yl, xl)
    return xh, xl, ph, pl


@ig.func
def stirling(xh: f64, xl: f64) -> tuple[f64, f64]:
    """log Gamma(X) = (X - 1/2) log X - X + log(2 pi) / 2 + 1 / (12 X) - ... for X >= 16."""
    lh, ll = log_of_pair(xh, xl)
    hh, hl = add_one(xh, xl, -0.5)
    h, l = multiply(hh, hl, lh, ll)
    h, l = add(h, l, -xh, -xl)
    h, l = add(h, l, HALF_LOG_TWO_PI_HIGH, HALF_LOG_TWO_PI_LOW)
    rh, rl = divide(1.0, 0.0, xh, xl)
    w = rh * rh
    t = f64(STIRLING_FIRST)
    for j in range(len(STIRLING_TAIL)):
        t = ig.fma(t, w, STIRLING_TAIL[j])
    sh, sl = multiply(rh, rl, TWELFTH_HIGH, TWELFTH_LOW)
    sh, sl = add_one(sh, sl, rh * w * t)
    return add(h, l, sh, sl)


@ig.func
def tgamma_pair(x: f64) -> tuple[f64, f64, f64]:
    """k and the pair e with Gamma(x) = e * 2^k, for finite x but 0 and negative integers, |x| >= 1e-20."""
    a = abs(x)
    xh, xl, ph, pl = risen(min(a, 200.0))
    lh, ll = stirling(xh, xl)
    k, eh, el = exp_pair(lh, ll)
    uh, ul = divide(eh, el, ph, pl)
    q, rh, rl = half_turns(a)
    sh, sl = quarter(q, rh, rl)
    sh, sl = multiply_one(sh, sl, a)
    sh, sl = multiply(sh, sl, eh, el)
    vh, vl = multiply(ph, pl, -PI_HIGH, -PI_LOW)
    vh, vl = divide(vh, vl, sh, sl)
    negative = x < 0.0
    return ig.select(negative, -k, k), ig.select(negative, vh, uh), ig.select(negative, vl, ul)


@ig.func
def tgamma_special(x: f64, y: f64) -> f64:
    """y = Gamma(x), or what it is at infinities, zeros and negative integers."""
    pole = ((x < 0.0) & (math.floor(x) == x)) | (x != x)
    y = ig.select(pole, f64(math.nan), y)
    y = ig.select(x == 0.0, math.copysign(f64(math.inf), x), y)
    return ig.select((x > 172.0), f64(math.inf), y)


@ig.func
def tgamma_f64(x: f64) -> f64:
    a = abs(x)
    ordinary = (a > 1e-20) & (a < math.inf)
    k, h, l = tgamma_pair(ig.select(ordinary, x, f64(1.5)))
    return tgamma_special(x, ig.select(a < 1e-20, 1.0 / x, scaled(k, h, l)))


@ig.func
def tgamma_f32_pair(x: f32) -> f32:
    ordinary = (abs(x) > 0.0) & (abs(x) < math.inf)
    k, h, l = tgamma_pair(f64(ig.select(ordinary, x, f32(1.5))))
    limited = max(min(k, 400.0), -600.0)
    return f32(tgamma_special(f64(x), to_odd(h, l) * power_of_two(limited)))


@ig.func
def near_one(e: f64) -> tuple[f64, f64]:
    """log Gamma(1 + e) for |e| <= 2^-6."""
    t = f64(GAMMA_ONE_FIRST)
    for j in range(len(GAMMA_ONE_TAIL)):
        t = ig.fma(t, e, GAMMA_ONE_TAIL[j])
    h, l = t, f64(0.0)
    for j in range(len(GAMMA_ONE_PAIRS)):
        h, l = step(e, 0.0, h, l, GAMMA_ONE_PAIRS[j, 0], GAMMA_ONE_PAIRS[j, 1])
    return multiply_one(h, l, e)


@ig.func
def near_two(e: f64) -> tuple[f64, f64]:
    """log Gamma(2 + e) for |e| <= 2^-6."""
    t = f64(GAMMA_TWO_FIRST)
    for j in range(len(GAMMA_TWO_TAIL)):
        t = ig.fma(t, e, GAMMA_TWO_TAIL[j])
    h, l = t, f64(0.0)
    for j in range(len(GAMMA_TWO_PAIRS)):
        h, l = step(e, 0.0, h, l, GAMMA_TWO_PAIRS[j, 0], GAMMA_TWO_PAIRS[j, 1])
    return multiply_one(h, l, e)


@ig.func
def lgamma_positive(a: f64) -> tuple[f64, f64]:
    """log Gamma(a) for 1e-30 <= a < 2.6e305."""
    xh, xl, ph, pl = risen(a)
    h, l = stirling(xh, xl)
    qh, ql = log_of_pair(ph, pl)
    h, l = add(h, l, -qh, -ql)
    one, two = abs(a - 1.0) < 0.015625, abs(a - 2.0) < 0.015625
    oh, ol = near_one(ig.select(one, a - 1.0, f64(0.0)))
    th, tl = near_two(ig.select(two, a - 2.0, f64(0.0)))
    h, l = ig.select(one, oh, h), ig.select(one, ol, l)
    return ig.select(two, th, h), ig.select(two, tl, l)


@ig.func
def lgamma_pair(x: f64) -> tuple[f64, f64]:
    """log |Gamma(x)| for 1e-30 <= |x| < 2.6e305, no negative integer."""
    a = abs(x)
    h, l = lgamma_positive(a)
    q, rh, rl = half_turns(a)
    sh, sl = quarter(q, rh, rl)
    sh, sl = multiply_one(sh, sl, a)
    flipped = sh < 0.0
    sh, sl = ig.select(flipped, -sh, sh), ig.select(flipped, -sl, sl)
    bh, bl = log_of_pair(ig.select(x < 0.0, sh, f64(1.0)), ig.select(x < 0.0, sl, f64(0.0)))
    bh, bl = add(LOG_PI_HIGH, LOG_PI_LOW, -bh, -bl)
    nh, nl = add(bh, bl, -h, -l)
    return ig.select(x < 0.0, nh, h), ig.select(x < 0.0, nl, l)


@ig.func
def lgamma_any(x: f64) -> tuple[f64, f64]:
    """`lgamma_pair` for every x: -log |x| for small ones, infinite at the poles and where it leaves f64."""
    a = abs(x)
    pole = (a == 0.0) | ((x < 0.0) & (math.floor(x) == x)) | (a >= 2.556348e305)
    ordinary = (a > 1e-30) & (not pole)
    h, l = lgamma_pair(ig.select(ordinary, x, f64(3.0)))
    mh, ml = log_pair(ig.select(pole, f64(1.0), min(a, 1.0)))
    small = a <= 1e-30
    h, l = ig.select(small, -mh, h), ig.select(small, -ml, l)
    return ig.select(pole, f64(math.inf), h), ig.select(pole, f64(0.0), l)


@ig.func
def beside_zero(x: f64) -> tuple[f64, f64]:
    """log |Gamma(x)| next to one of its zeros between -17 and -2: four terms of the series around it."""
    whole = math.floor(x)
    row = -2.0 * (whole + 3.0) + ig.select(x - whole > 0.4, f64(1.0), f64(0.0))
    j = int(ig.bitcast(w64, row + SHIFTER) & 31)
    th, tl = two_sum(x - GAMMA_ZERO_HIGH[j], -GAMMA_ZERO_LOW[j])
    h, l = multiply(th, tl, GAMMA_SLOPE_HIGH[j], GAMMA_SLOPE_LOW[j])
    rest = ig.fma(ig.fma(GAMMA_FOURTH[j], th, GAMMA_THIRD[j]), th, GAMMA_CURVE[j])
    return h, ig.fma(th * th, rest, l + GAMMA_ZERO_VALUE[j])


@ig.func
def lgamma_f64(x: f64) -> f64:
    """The pair's absolute error is below 2^-70, too much next to the zeros below zero: there the series decides."""
    h, l = lgamma_any(x)
    zero = (abs(h) < 2.0**-18) & (x < -2.0) & (x > -17.0)
    zh, zl = beside_zero(ig.select(zero, x, f64(-2.5)))
    h, l = ig.select(zero, zh, h), ig.select(zero, zl, l)
    return ig.select(x == x, h + l, x)


@ig.func
def lgamma_f32_pair(x: f32) -> f32:
    h, l = lgamma_any(f64(x))
    return ig.select(x == x, narrow(h, l), x)
