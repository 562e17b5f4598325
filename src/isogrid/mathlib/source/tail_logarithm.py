"""Tail builds of the f32 logarithms: x = 2^k m, m c = 1 + z with c from a table of 32, log m = log(1 + z) - log c.

The intervals of m are those of its upper five bits. c is 1 in the first and 1/2 in the last, so that next to x = 1 the
sum of the constants vanishes and log x is log(1 + z) alone.
"""


import isogrid as ig
from isogrid import f32, i32, w32
from isogrid.mathlib.source.quick_logarithm import log_f32_quick
from isogrid.mathlib.source.tail_constants import (
    LOG_INVERSES,
    LOG_MARGIN,
    LOG_SQUARE_MARGIN,
    LOG_TABLE_HIGH,
    LOG_TABLE_LOW,
    SHORT_LN2_HIGH,
    SHORT_LN2_LOW,
    TAIL_LOG,
)


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
def log1p_polynomial(z: f32) -> f32:
    """(log(1 + z) - z) / z^2."""
    q = TAIL_LOG[0]
    for j in range(1, len(TAIL_LOG)):
        q = ig.fma(q, z, TAIL_LOG[j])
    return q


@ig.func
def positive(x: f32) -> bool:
    """Whether x is positive, normal and finite."""
    return ig.bitcast(w32, x) - 0x00800000 < w32(0x7F000000)


@ig.func
def log_f32(x: f32) -> f32:
    """The sum of the constants is exact; the error is that of z^2 / 2 and a little for the low parts."""
    k, m, j = split_table(x)
    zh, zl = times_inverse(m, LOG_INVERSES[j])
    a = ig.fma(k, SHORT_LN2_HIGH, LOG_TABLE_HIGH[j])
    s = a + zh
    square = zh * zh
    rest = ig.fma(-zl, zh, zl) + ig.fma(k, SHORT_LN2_LOW, LOG_TABLE_LOW[j])
    low = (zh - (s - a)) + ig.fma(square, log1p_polynomial(zh), rest)
    margin = ig.fma(square, LOG_SQUARE_MARGIN, LOG_MARGIN)
    y = s + (low + margin)
    if not ((y == s + (low - margin)) & positive(x)):
        y = log_f32_quick(x)
    return y
