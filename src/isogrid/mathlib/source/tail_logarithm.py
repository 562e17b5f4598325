"""Tail builds of the f32 logarithms: x = 2^k m, m c = 1 + z with c from a table of 32, log m = log(1 + z) - log c.

The intervals of m are those of its upper five bits. c is 1 in the first and 1/2 in the last, so that next to x = 1 the
sum of the constants vanishes and log x is log(1 + z) alone.
"""

import math

import isogrid as ig
from isogrid import f32, i32, w32
from isogrid.mathlib.source.quick_logarithm import (
    acosh_f32_quick,
    atanh_f32_quick,
    log1p_f32_quick,
    log2_f32_quick,
    log10_f32_quick,
    log_f32_quick,
)
from isogrid.mathlib.source.tail_constants import (
    ATANH_MARGIN,
    ATANH_SERIES_MARGIN,
    ATANH_SQUARE_MARGIN,
    INVERSE_LN2_HIGH,
    INVERSE_LN2_LOW,
    INVERSE_LN10_HIGH,
    INVERSE_LN10_LOW,
    LOG2_TABLE_HIGH,
    LOG2_TABLE_LOW,
    LOG10_TABLE_HIGH,
    LOG10_TABLE_LOW,
    LOG_INVERSES,
    LOG_MARGIN,
    LOG_SQUARE_MARGIN,
    LOG_TABLE_ABOVE,
    LOG_TABLE_HIGH,
    LOG_TABLE_LOW,
    SHORT_LN2_HIGH,
    SHORT_LN2_LOW,
    SHORT_LOG10_2_HIGH,
    SHORT_LOG10_2_LOW,
    TAIL_ATANH,
    TAIL_LOG,
)

#: Beside a root it is nothing; where the root is 0 it keeps the quotient from being 0 / 0.
TINY = 2.0**-100


@ig.func
def split_table(x: f32) -> tuple[f32, f32, int]:
    """k, m between 1 and 2, and m's interval, for a positive normal x."""
    bits = ig.bitcast(w32, x)
    k = f32(ig.bitcast(i32, bits - 0x3F800000) >> 23)
    m = ig.bitcast(f32, (bits & 0x007FFFFF) | 0x3F800000)
    return k, m, int((bits >> 18) & 31)


@ig.func
def times_inverse(m: f32, c: f32) -> tuple[f32, f32]:
    """m c - 1 as a sum, exactly, for an m c next to 1."""
    p = m * c
    return p - 1.0, ig.fma(m, c, -p)


@ig.func
def log1p_polynomial(z: f32, square: f32) -> f32:
    """(log(1 + z) - z) / z^2, for square = z^2."""
    return ig.fma(ig.fma(TAIL_LOG[0], z, TAIL_LOG[1]), square, ig.fma(TAIL_LOG[2], z, TAIL_LOG[3]))


@ig.func
def positive(x: f32) -> bool:
    """Whether x is positive, normal and finite."""
    return ig.bitcast(w32, x) - 0x00800000 < w32(0x7F000000)


@ig.func
def log_f32(x: f32) -> f32:
    """The sum of the constants is exact; the error is that of z^2 / 2 and a little for the low parts.

    Those are too large on purpose, so that what they may be wrong by lies below.
    """
    k, m, j = split_table(x)
    zh, zl = times_inverse(m, LOG_INVERSES[j])
    a = ig.fma(k, SHORT_LN2_HIGH, LOG_TABLE_HIGH[j])
    s = a + zh
    square = zh * zh
    rest = ig.fma(-zl, zh, zl) + ig.fma(k, SHORT_LN2_LOW, LOG_TABLE_ABOVE[j])
    p = ig.fma(TAIL_LOG[2], zh, TAIL_LOG[3] + f32(LOG_SQUARE_MARGIN))
    p = ig.fma(ig.fma(TAIL_LOG[0], zh, TAIL_LOG[1]), square, p)
    low = (zh - (s - a)) + ig.fma(square, p, rest)
    y = s + low
    if not ((y == s + (low - ig.fma(square, 2.0 * LOG_SQUARE_MARGIN, 2.0 * LOG_MARGIN))) & positive(x)):
        y = log_f32_quick(x)
    return y


@ig.func
def other_base(a: f32, rest: f32, m: f32, c: f32, high: f32, low: f32, margin: f32) -> tuple[f32, bool]:
    """a + rest + log(m c) / ln b, where high + low = 1 / ln b, and whether it is settled."""
    zh, zl = times_inverse(m, c)
    square = zh * zh
    s = ig.fma(zh, high, a)
    tail = ig.fma(square, log1p_polynomial(zh, square), ig.fma(-zl, zh, zl))
    l = ig.fma(tail, high, ig.fma(zh, low, rest)) + ig.fma(zh, high, a - s)
    margin = ig.fma(square, high * LOG_SQUARE_MARGIN, margin)
    y = s + (l + margin)
    return y, y == s + (l - margin)


@ig.func
def log2_f32(x: f32) -> f32:
    k, m, j = split_table(x)
    y, good = other_base(
        k + LOG2_TABLE_HIGH[j], LOG2_TABLE_LOW[j], m, LOG_INVERSES[j], INVERSE_LN2_HIGH, INVERSE_LN2_LOW, LOG_MARGIN
    )
    if not (good & positive(x)):
        y = log2_f32_quick(x)
    return y


@ig.func
def log10_f32(x: f32) -> f32:
    k, m, j = split_table(x)
    a = ig.fma(k, SHORT_LOG10_2_HIGH, LOG10_TABLE_HIGH[j])
    rest = ig.fma(k, SHORT_LOG10_2_LOW, LOG10_TABLE_LOW[j])
    y, good = other_base(a, rest, m, LOG_INVERSES[j], INVERSE_LN10_HIGH, INVERSE_LN10_LOW, 2 * LOG_MARGIN)
    if not (good & positive(x)):
        y = log10_f32_quick(x)
    return y


@ig.func
def log1p_parts(x: f32) -> tuple[f32, f32, f32]:
    """log(1 + x) as a sum, and a bound on its error, for -1 < x < 2^24: 1 + x is a sum too, next to 1 it is left alone.

    There the constants vanish, z is x itself, and the error is that of x^2 / 2.
    """
    u = 1.0 + x
    rest = ig.select(x < 1.0, (1.0 - u) + x, (x - u) + 1.0)
    k, m, j = split_table(u)
    c = LOG_INVERSES[j]
    zh, zl = times_inverse(m, c)
    scale = ig.bitcast(f32, 0x7F000000 - (ig.bitcast(w32, u) & 0x7F800000))
    near = (x < 0.03124) & (x > -0.01562)
    zl = ig.select(near, f32(0.0), ig.fma(rest * scale, c, zl))
    zh = ig.select(near, x, zh)
    a = ig.fma(k, SHORT_LN2_HIGH, LOG_TABLE_HIGH[j])
    s = a + zh
    square = zh * zh
    tail = ig.fma(-zl, zh, zl) + ig.fma(k, SHORT_LN2_LOW, LOG_TABLE_LOW[j])
    low = (zh - (s - a)) + ig.fma(square, log1p_polynomial(zh, square), tail)
    margin = ig.fma(square, 2.0 * LOG_SQUARE_MARGIN, ig.select(near, f32(0.0), f32(1.25 * LOG_MARGIN)))
    return s, low, margin


@ig.func
def log1p_f32(x: f32) -> f32:
    s, low, margin = log1p_parts(x)
    y, below = s + (low + margin), s + (low - margin)
    y = ig.select(x == 0.0, x, y)
    if not ((y == below) & (x > -1.0) & (x < 16777216.0)):
        y = log1p_f32_quick(x)
    return y


@ig.func
def atanh_f32(x: f32) -> f32:
    """(log(1 + a) - log(1 - a)) / 2 for a = |x|, as one sum of both; a series for a small one."""
    a = abs(x)
    u, w = 1.0 + a, 1.0 - a
    i = int((ig.bitcast(w32, u) >> 18) & 31)
    k, m, j = split_table(w)
    c, b = LOG_INVERSES[i], LOG_INVERSES[j]
    zh, zl = times_inverse(u, c)
    zl = ig.fma((1.0 - u) + a, c, zl)
    yh, yl = times_inverse(m, b)
    scale = ig.bitcast(f32, 0x7F000000 - (ig.bitcast(w32, w) & 0x7F800000))
    yl = ig.fma(((1.0 - w) - a) * scale, b, yl)
    high = LOG_TABLE_HIGH[i] - ig.fma(k, SHORT_LN2_HIGH, LOG_TABLE_HIGH[j])
    s = high + zh
    h = s - yh
    rest = (zh - (s - high)) + ((s - h) - yh)
    rest = rest + (LOG_TABLE_LOW[i] - ig.fma(k, SHORT_LN2_LOW, LOG_TABLE_LOW[j]))
    rest = rest + (ig.fma(-zl, zh, zl) - ig.fma(-yl, yh, yl))
    zz, yy = zh * zh, yh * yh
    low = ig.fma(zz, log1p_polynomial(zh, zz), ig.fma(-yy, log1p_polynomial(yh, yy), rest))
    margin = ig.fma(zz + yy, ATANH_SQUARE_MARGIN, ATANH_MARGIN)
    small = a < 0.0625
    square = a * a
    series = f32(TAIL_ATANH[0])
    for n in range(1, len(TAIL_ATANH)):
        series = ig.fma(series, square, TAIL_ATANH[n])
    series = series * (a * square)
    h = ig.select(small, 2.0 * a, h)
    low = ig.select(small, series, low)
    margin = ig.select(small, series * ATANH_SERIES_MARGIN, margin)
    above, below = h + (low + margin), h + (low - margin)
    good = (above == below) & (a < 0.9999999)
    y = math.copysign(0.5 * above, x)
    if not good:
        y = atanh_f32_quick(x)
    return y


@ig.func
def acosh_f32(x: f32) -> f32:
    """log(x + sqrt(x^2 - 1)), the argument as a sum: its distance from 1 is exact but for the root's last bits."""
    p = x * x
    first = p - 1.0
    l = ((p - first) - 1.0) + ig.fma(x, x, -p)
    h = first + l
    l = l - (h - first)
    root = math.sqrt(h)
    rest = (ig.fma(-root, root, h) + l) / ig.fma(root, 2.0, TINY)
    u = x + root
    rest = ((x - u) + root) + rest
    k, m, j = split_table(u)
    c = LOG_INVERSES[j]
    zh, zl = times_inverse(m, c)
    scale = ig.bitcast(f32, 0x7F000000 - (ig.bitcast(w32, u) & 0x7F800000))
    zl = ig.fma(rest * scale, c, zl)
    a = ig.fma(k, SHORT_LN2_HIGH, LOG_TABLE_HIGH[j])
    s = a + zh
    square = zh * zh
    rest = ig.fma(-zl, zh, zl) + ig.fma(k, SHORT_LN2_LOW, LOG_TABLE_LOW[j])
    low = (zh - (s - a)) + ig.fma(square, log1p_polynomial(zh, square), rest)
    margin = ig.fma(square, 1.75 * LOG_SQUARE_MARGIN, LOG_MARGIN)
    y, below = s + (low + margin), s + (low - margin)
    # From 1 to 2^62, whose square is an f32; below -1 the argument would be positive too.
    ordinary = ig.bitcast(w32, x) - 0x3F800000 < w32(0x1F000000)
    if not ((y == below) & ordinary):
        y = acosh_f32_quick(x)
    return y
