"""log, log2, log10, log1p, asinh, acosh, atanh in pairs.

x = 2^k * m with m between sqrt(1/2) and sqrt(2); s = (m - 1) / (m + 1) as a pair, |s| <= 0.1716;
log m = 2 s (1 + z/3 + z^2/5 + ...) with z = s^2, the terms from z^5 on in f64 (relative error below 2^-80).
"""

import math

import isogrid as ig
from isogrid import f32, f64, w64
from isogrid.mathlib.source.constants import (
    INVERSE_LN2_HIGH,
    INVERSE_LN2_LOW,
    INVERSE_LN10_HIGH,
    INVERSE_LN10_LOW,
    LN2_A,
    LN2_B,
    LN2_C,
    LOG10_2_A,
    LOG10_2_B,
    LOG10_2_C,
    LOG_FIRST,
    LOG_PAIRS,
    LOG_TAIL,
)
from isogrid.mathlib.source.exponential import TINY, power_of_two
from isogrid.mathlib.source.pairs import (
    add,
    add_one,
    divide,
    multiply,
    narrow,
    quick_sum,
    square_root,
    step,
    two_product,
    two_sum,
)

#: The bits of sqrt(1/2): subtracted, they leave the exponent of x / m in the upper 12 bits.
ROOT_HALF_BITS = 0x3FE6A09E667F3BCD
#: As an exponent, 2^52: an integer below it in the fraction makes 2^52 + integer.
INTEGER_BITS = 0x4330000000000000
#: From here on 1 is nothing beside x^2.
LARGE = 2.0**60


@ig.func
def split(x: f64) -> tuple[f64, f64]:
    """k and m for a positive normal x; something finite for anything else."""
    bits = ig.bitcast(w64, x)
    above = bits - ROOT_HALF_BITS
    biased = ((above >> 52) + 2048) & 4095
    k = ig.bitcast(f64, biased | INTEGER_BITS) - 4503599627372544.0
    return k, ig.bitcast(f64, bits - (above & 0xFFF0000000000000))


@ig.func
def split_any(x: f64) -> tuple[f64, f64]:
    """k and m for a positive x, subnormal ones too."""
    small = x < 2.2250738585072014e-308
    k, m = split(ig.select(small, x * 18014398509481984.0, x))
    return ig.select(small, k - 54.0, k), m


@ig.func
def log1p_series(fh: f64, fl: f64) -> tuple[f64, f64]:
    """log(1 + f) for sqrt(1/2) <= 1 + f <= sqrt(2)."""
    dh, dl = add_one(fh, fl, 2.0)
    sh, sl = divide(fh, fl, dh, dl)
    zh, zl = multiply(sh, sl, sh, sl)
    t = f64(LOG_FIRST)
    for j in range(len(LOG_TAIL)):
        t = ig.fma(t, zh, LOG_TAIL[j])
    h, l = t, f64(0.0)
    for j in range(len(LOG_PAIRS)):
        h, l = step(zh, zl, h, l, LOG_PAIRS[j, 0], LOG_PAIRS[j, 1])
    h, l = multiply(sh, sl, h, l)
    return 2.0 * h, 2.0 * l


@ig.func
def with_exponent(k: f64, h: f64, l: f64) -> tuple[f64, f64]:
    """k ln 2 + (h + l)."""
    eh, el = quick_sum(k * LN2_A, k * LN2_B)
    sh, sl = add(eh, el, h, l)
    return quick_sum(sh, ig.fma(k, LN2_C, sl))


@ig.func
def log_pair(x: f64) -> tuple[f64, f64]:
    """log x for a positive finite x."""
    k, m = split_any(x)
    h, l = log1p_series(m - 1.0, 0.0)
    return with_exponent(k, h, l)


@ig.func
def log_special(x: f64, y: f64) -> f64:
    """y = log x, or what C's Annex F says: -inf for 0, NaN below it, inf and NaN for themselves."""
    y = ig.select(x == 0.0, f64(-math.inf), y)
    y = ig.select(x < 0.0, f64(math.nan), y)
    return ig.select(x < math.inf, y, x)


@ig.func
def log_special_f32(x: f32, y: f32) -> f32:
    """`log_special` for f32."""
    y = ig.select(x == 0.0, f32(-math.inf), y)
    y = ig.select(x < 0.0, f32(math.nan), y)
    return ig.select(x < math.inf, y, x)


@ig.func
def log_f64(x: f64) -> f64:
    h, l = log_pair(x)
    return log_special(x, h + l)


@ig.func
def log_f32_pair(x: f32) -> f32:
    h, l = log_pair(f64(x))
    return log_special_f32(x, narrow(h, l))


@ig.func
def log2_pair(x: f64) -> tuple[f64, f64]:
    """k + log(m) / ln 2: powers of two come out exact."""
    k, m = split_any(x)
    h, l = log1p_series(m - 1.0, 0.0)
    h, l = multiply(h, l, INVERSE_LN2_HIGH, INVERSE_LN2_LOW)
    return add_one(h, l, k)


@ig.func
def log2_f64(x: f64) -> f64:
    h, l = log2_pair(x)
    return log_special(x, h + l)


@ig.func
def log2_f32_pair(x: f32) -> f32:
    h, l = log2_pair(f64(x))
    return log_special_f32(x, narrow(h, l))


@ig.func
def log10_pair(x: f64) -> tuple[f64, f64]:
    """k log10(2) + log(m) / ln 10."""
    k, m = split_any(x)
    h, l = log1p_series(m - 1.0, 0.0)
    h, l = multiply(h, l, INVERSE_LN10_HIGH, INVERSE_LN10_LOW)
    eh, el = quick_sum(k * LOG10_2_A, k * LOG10_2_B)
    sh, sl = add(eh, el, h, l)
    return quick_sum(sh, ig.fma(k, LOG10_2_C, sl))


@ig.func
def log10_f64(x: f64) -> f64:
    h, l = log10_pair(x)
    return log_special(x, h + l)


@ig.func
def log10_f32_pair(x: f32) -> f32:
    h, l = log10_pair(f64(x))
    # The powers of ten that f32 holds: their logarithms are integers, and a pair is only next to them.
    return log_special_f32(x, narrow(h, l))


@ig.func
def log1p_pair(xh: f64, xl: f64) -> tuple[f64, f64]:
    """log(1 + x) for x > -1: where 1 + x needs no scaling, x itself is the argument of the series."""
    uh, ul = add_one(xh, xl, 1.0)
    k, m = split(uh)
    sh, sl = two_sum(m - 1.0, ul * power_of_two(max(-k, -1000.0)))
    plain = k == 0.0
    h, l = log1p_series(ig.select(plain, xh, sh), ig.select(plain, xl, sl))
    return with_exponent(k, h, l)


@ig.func
def log1p_f64(x: f64) -> f64:
    h, l = log1p_pair(x, 0.0)
    y = ig.select(abs(x) < TINY, x, h + l)
    y = ig.select(x == -1.0, f64(-math.inf), y)
    y = ig.select(x < -1.0, f64(math.nan), y)
    return ig.select(x < math.inf, y, x)


@ig.func
def log1p_f32_pair(x: f32) -> f32:
    h, l = log1p_pair(f64(x), 0.0)
    y = ig.select(abs(x) < TINY, x, narrow(h, l))
    y = ig.select(x == -1.0, f32(-math.inf), y)
    y = ig.select(x < -1.0, f32(math.nan), y)
    return ig.select(x < math.inf, y, x)


@ig.func
def asinh_pair(a: f64) -> tuple[f64, f64]:
    """log1p(a + a^2 / (1 + sqrt(1 + a^2))) for 0 <= a; log(2a) = log1p(2a) where a is large."""
    b = min(a, LARGE)
    sh, sl = two_product(b, b)
    rh, rl = add_one(sh, sl, 1.0)
    rh, rl = square_root(rh, rl)
    rh, rl = add_one(rh, rl, 1.0)
    th, tl = divide(sh, sl, rh, rl)
    th, tl = add_one(th, tl, b)
    large = a > LARGE
    # Half of a large argument, and ln 2 more: 2a may overflow.
    h, l = log1p_pair(ig.select(large, a * 0.5, th), ig.select(large, f64(0.0), tl))
    eh, el = quick_sum(2.0 * LN2_A, 2.0 * LN2_B)
    bh, bl = add(h, l, eh, el + 2.0 * LN2_C)
    return ig.select(large, bh, h), ig.select(large, bl, l)


@ig.func
def asinh_f64(x: f64) -> f64:
    a = abs(x)
    h, l = asinh_pair(a)
    y = ig.select(a < math.inf, math.copysign(h + l, x), x)
    return ig.select(a < TINY, x, y)


@ig.func
def asinh_f32_pair(x: f32) -> f32:
    a = abs(x)
    h, l = asinh_pair(f64(a))
    y = ig.select(a < math.inf, math.copysign(narrow(h, l), x), x)
    return ig.select(a < TINY, x, y)


@ig.func
def acosh_pair(x: f64) -> tuple[f64, f64]:
    """log1p(t + sqrt(t^2 + 2t)) with t = x - 1, for x >= 1; log(2x) where x is large."""
    th, tl = two_sum(min(x, LARGE), -1.0)
    sh, sl = multiply(th, tl, th, tl)
    sh, sl = add(sh, sl, 2.0 * th, 2.0 * tl)
    sh, sl = square_root(sh, sl)
    th, tl = add(th, tl, sh, sl)
    large = x > LARGE
    h, l = log1p_pair(ig.select(large, x * 0.5, th), ig.select(large, f64(0.0), tl))
    eh, el = quick_sum(2.0 * LN2_A, 2.0 * LN2_B)
    bh, bl = add(h, l, eh, el + 2.0 * LN2_C)
    return ig.select(large, bh, h), ig.select(large, bl, l)


@ig.func
def acosh_f64(x: f64) -> f64:
    h, l = acosh_pair(x)
    y = ig.select(x < 1.0, f64(math.nan), h + l)
    return ig.select(x < math.inf, y, x)


@ig.func
def acosh_f32_pair(x: f32) -> f32:
    h, l = acosh_pair(f64(x))
    y = ig.select(x < 1.0, f32(math.nan), narrow(h, l))
    return ig.select(x < math.inf, y, x)


@ig.func
def atanh_pair(a: f64) -> tuple[f64, f64]:
    """log1p(2a / (1 - a)) / 2 for 0 <= a < 1."""
    dh, dl = two_sum(1.0, -a)
    th, tl = divide(2.0 * a, 0.0, dh, dl)
    h, l = log1p_pair(th, tl)
    return 0.5 * h, 0.5 * l


@ig.func
def atanh_f64(x: f64) -> f64:
    a = abs(x)
    h, l = atanh_pair(min(a, 0.9999999999999999))
    y = ig.select(a == 1.0, f64(math.inf), h + l)
    y = ig.select(a > 1.0, f64(math.nan), math.copysign(y, x))
    return ig.select(a < TINY, x, y)


@ig.func
def atanh_f32_pair(x: f32) -> f32:
    a = abs(x)
    h, l = atanh_pair(min(f64(a), 0.9999999999999999))
    y = ig.select(a == 1.0, f32(math.inf), narrow(h, l))
    y = ig.select(a > 1.0, f32(math.nan), math.copysign(y, x))
    return ig.select(a < TINY, x, y)
