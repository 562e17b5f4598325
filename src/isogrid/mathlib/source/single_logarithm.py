"""log and log2 in f32 alone: x = 2^k m, m c = 1 + r with c of 8 bits from a table, log m = log(1 + r) - log c.

m lies in 0.707 .. 1.414; c is 1 next to x = 1, where the constants vanish and log x is log(1 + r) alone.
"""

import math

import isogrid as ig
from isogrid import f32, w32
from isogrid.mathlib.source.single import (
    add_pair,
    add_triples,
    halves,
    multiply_pairs,
    multiply_triples,
    normal_bits,
    quick_sum,
    rounded,
    step,
    two_product,
    two_sum,
)
from isogrid.mathlib.source.single_constants import (
    INVERSE_LN2_HIGH,
    INVERSE_LN2_LOW,
    INVERSE_LN2_MIDDLE,
    INVERSES,
    LN2_A,
    LN2_B,
    LN2_C,
    LN2_D,
    LOG2_OF_INVERSES_HIGH,
    LOG2_OF_INVERSES_LOW,
    LOG2_OF_INVERSES_MIDDLE,
    LOG_OF_INVERSES_HIGH,
    LOG_OF_INVERSES_LOW,
    LOG_OF_INVERSES_MIDDLE,
    LOG_PAIRS_HIGH,
    LOG_PAIRS_LOW,
    LOG_TAIL,
)

#: The bits of 1.4140625 / 2, where an interval of the table begins.
ROOT_HALF_BITS = 0x3F350000


@ig.func
def split(x: f32) -> tuple[f32, w32, f32, f32]:
    """k, the number of the interval, and r with its rounding error, for a positive finite x."""
    bits, below = normal_bits(x)
    above = bits - ROOT_HALF_BITS
    k = (f32((above + 0x40000000) >> 23) - 128.0) - f32(below)
    m = bits - (above & 0xFF800000)
    j = (m >> 16) & 127
    c = INVERSES[int(j)]
    mh, ml = halves(ig.bitcast(f32, m))
    rh, rl = two_sum(mh * c - 1.0, ml * c)
    return k, j, rh, rl


@ig.func
def log1p_triple(rh: f32, rl: f32) -> tuple[f32, f32, f32]:
    """log(1 + r) = r - r^2/2 + r^3 q(r) for |r| <= 2^-7, relative error below 2^-53, and below 2^-58 for |r| < 2^-9."""
    sh, e = two_product(rh, rh)
    sh, sl = quick_sum(sh, e + 2.0 * (rh * rl))
    t = LOG_TAIL[0]
    for j in range(1, len(LOG_TAIL)):
        t = LOG_TAIL[j] + rh * t
    h, l = t, f32(0.0)
    for j in range(len(LOG_PAIRS_HIGH)):
        h, l = step(rh, rl, h, l, LOG_PAIRS_HIGH[j], LOG_PAIRS_LOW[j])
    ch, cl = multiply_pairs(sh, sl, rh, rl)
    h, l = multiply_pairs(ch, cl, h, l)
    ph, pm, pl = add_pair(rh, rl, f32(0.0), -0.5 * sh, -0.5 * sl)
    return add_pair(ph, pm, pl, h, l)


@ig.func
def special(x: f32, y: f32) -> f32:
    """y = log x, or what C's Annex F says; asked by the bits, since there are devices that take a subnormal for 0."""
    bits = ig.bitcast(w32, x)
    y = ig.select(bits < 0x7F800000, y, x)
    y = ig.select(bits > 0x80000000, f32(math.nan), y)
    return ig.select((bits & 0x7FFFFFFF) == 0, f32(-math.inf), y)


@ig.func
def log_triple(x: f32) -> tuple[f32, f32, f32]:
    """k ln 2 - log c + log(1 + r) for a positive finite x."""
    k, j, rh, rl = split(x)
    i = int(j)
    h, e = two_sum(k * LN2_A, LOG_OF_INVERSES_HIGH[i])
    m, f = two_sum(k * LN2_B, LOG_OF_INVERSES_MIDDLE[i])
    m, g = two_sum(m, e)
    l = (k * LN2_C + LOG_OF_INVERSES_LOW[i]) + (k * LN2_D + (f + g))
    ph, pm, pl = log1p_triple(rh, rl)
    return add_triples(h, m, l, ph, pm, pl)


@ig.func
def log_f32_pairs(x: f32) -> f32:
    h, m, l = log_triple(x)
    return special(x, rounded(h, m, l))


@ig.func
def log2_triple(x: f32) -> tuple[f32, f32, f32]:
    """k - log2 c + log(1 + r) / ln 2; powers of two come out exact, since r is 0 there, and the constants too."""
    k, j, rh, rl = split(x)
    i = int(j)
    ph, pm, pl = log1p_triple(rh, rl)
    ph, pm, pl = multiply_triples(ph, pm, pl, INVERSE_LN2_HIGH, INVERSE_LN2_MIDDLE, INVERSE_LN2_LOW)
    h, e = two_sum(k, LOG2_OF_INVERSES_HIGH[i])
    m, f = two_sum(e, LOG2_OF_INVERSES_MIDDLE[i])
    return add_triples(h, m, f + LOG2_OF_INVERSES_LOW[i], ph, pm, pl)


@ig.func
def log2_f32_pairs(x: f32) -> f32:
    h, m, l = log2_triple(x)
    return special(x, rounded(h, m, l))
