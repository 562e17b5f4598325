"""Tail builds of the f32 exponentials: e^x = 2^k 2^(j/16) e^r, the power from a table of 16 f32."""

import math

import isogrid as ig
from isogrid import f32, w32
from isogrid.mathlib.source.quick_exponential import (
    cosh_f32_quick,
    exp2_f32_quick,
    exp10_f32_quick,
    exp_f32_quick,
    expm1_f32_quick,
    sinh_f32_quick,
)
from isogrid.mathlib.source.tail import settled_f32
from isogrid.mathlib.source.tail_constants import (
    COSH_MARGIN,
    EXP_MARGIN,
    EXP_SIXTEENTHS,
    EXPM1_MARGIN,
    HALF_INVERSE_BITS,
    HALF_POWER_BITS,
    INVERSE_TAILS,
    LN2_HIGH,
    LN2_LOW,
    LN2_SIXTEENTH_HIGH,
    LN2_SIXTEENTH_LOW,
    LN10_HIGH,
    LN10_LOW,
    LOG2_10_SIXTEENTHS,
    LOG10_2_SIXTEENTH_HIGH,
    LOG10_2_SIXTEENTH_LOW,
    POWER_BITS,
    POWER_TAILS,
    SINH_MARGIN,
    TAIL_COSH,
    TAIL_EXP,
    TAIL_SINH,
)

#: Adding it leaves an integer below 2^22 in the low bits, as two's complement.
SHORT_SHIFTER = 12582912.0
#: The same for sixteenths.
SHIFTER_OF_SIXTEENTHS = 786432.0


@ig.func
def power_and_tail(bits: w32) -> tuple[f32, f32]:
    """2^(n/16) = p (1 + t) for the integer n in the low bits: entries are bits less j << 19, which n << 19 adds."""
    j = int(bits & 15)
    return ig.bitcast(f32, w32(POWER_BITS[j]) + (bits << 19)), POWER_TAILS[j]


@ig.func
def times_exp(p: f32, rh: f32, rl: f32) -> tuple[f32, f32]:
    """p e^(rh + rl) as a sum, |rh| <= ln 2 / 32, |rl| < 2^-21: p + p rh first, its rounding error, the rest.

    e^(rh + rl) = 1 + rh + (1 + rl) q rh^2 + rl (1 + rh) with q = 1/2 + rh/6 + ...
    """
    q = ig.fma(ig.fma(TAIL_EXP[0], rh, TAIL_EXP[1]), rh, ig.fma(rl, 0.5, 0.5))
    rest = ig.fma(q, rh * rh, ig.fma(rl, rh, rl))
    s = ig.fma(p, rh, p)
    return s, ig.fma(p, rest, ig.fma(p, rh, p - s))


@ig.func
def exp_f32(x: f32) -> f32:
    """x = n ln 2 / 16 + r: the first product leaves r's high part exact, the second is its low part."""
    shifted = ig.fma(x, EXP_SIXTEENTHS, SHORT_SHIFTER)
    n = shifted - SHORT_SHIFTER
    rh = ig.fma(-n, LN2_SIXTEENTH_HIGH, x)
    p, t = power_and_tail(ig.bitcast(w32, shifted))
    s, low = times_exp(p, rh, ig.fma(-n, LN2_SIXTEENTH_LOW, t))
    y, good = settled_f32(s, low, EXP_MARGIN)
    if not (good & (abs(x) <= 79.0)):
        y = exp_f32_quick(x)
    return y


@ig.func
def exp2_f32(x: f32) -> f32:
    """x = n / 16 + f, exactly; r = f ln 2."""
    shifted = x + SHIFTER_OF_SIXTEENTHS
    f = x - (shifted - SHIFTER_OF_SIXTEENTHS)
    p, t = power_and_tail(ig.bitcast(w32, shifted))
    rh = f * LN2_HIGH
    s, low = times_exp(p, rh, ig.fma(f, LN2_LOW, ig.fma(f, LN2_HIGH, -rh) + t))
    y, good = settled_f32(s, low, EXP_MARGIN)
    if not (good & (abs(x) <= 114.0)):
        y = exp2_f32_quick(x)
    return y


@ig.func
def exp10_f32(x: f32) -> f32:
    """x = n log10(2) / 16 + f, f as a high and a low part; r = f ln 10."""
    shifted = ig.fma(x, LOG2_10_SIXTEENTHS, SHORT_SHIFTER)
    n = shifted - SHORT_SHIFTER
    f = ig.fma(-n, LOG10_2_SIXTEENTH_HIGH, x)
    p, t = power_and_tail(ig.bitcast(w32, shifted))
    rh = f * LN10_HIGH
    rl = ig.fma(f, LN10_LOW, ig.fma(f, LN10_HIGH, -rh)) + ig.fma(-n, LOG10_2_SIXTEENTH_LOW * LN10_HIGH, t)
    s, low = times_exp(p, rh, rl)
    y, good = settled_f32(s, low, EXP_MARGIN)
    if not (good & (abs(x) <= 34.0)):
        y = exp10_f32_quick(x)
    return y


@ig.func
def expm1_f32(x: f32) -> f32:
    """(p - 1) + p rh first, which is rh alone next to 0; the error is that of p rh^2 / 2."""
    shifted = ig.fma(x, EXP_SIXTEENTHS, SHORT_SHIFTER)
    n = shifted - SHORT_SHIFTER
    rh = ig.fma(-n, LN2_SIXTEENTH_HIGH, x)
    p, t = power_and_tail(ig.bitcast(w32, shifted))
    rl = ig.fma(-n, LN2_SIXTEENTH_LOW, t)
    square = rh * rh
    q = ig.fma(ig.fma(TAIL_EXP[0], rh, TAIL_EXP[1]), rh, ig.fma(rl, 0.5, 0.5))
    rest = ig.fma(q, square, ig.fma(rl, rh, rl))
    b = p - 1.0
    s = ig.fma(p, rh, b)
    low = ig.fma(p, rest, ig.fma(p, rh, b - s) + (p - (b + 1.0)))
    error = p * square
    y, below = s + ig.fma(error, EXPM1_MARGIN, low), s + ig.fma(error, -EXPM1_MARGIN, low)
    y = ig.select(x == 0.0, x, y)
    if not ((y == below) & (abs(x) <= 16.0)):
        y = expm1_f32_quick(x)
    return y


@ig.func
def halves(a: f32) -> tuple[f32, f32, f32, f32, f32, f32]:
    """sinh and cosh of n ln 2 / 16 as sums, from 2^(n/16) and 2^(-n/16), and r with a = n ln 2 / 16 + r."""
    shifted = ig.fma(a, EXP_SIXTEENTHS, SHORT_SHIFTER)
    n = shifted - SHORT_SHIFTER
    rh = ig.fma(-n, LN2_SIXTEENTH_HIGH, a)
    bits = ig.bitcast(w32, shifted)
    j, exponent = int(bits & 15), bits << 19
    p, t = ig.bitcast(f32, w32(HALF_POWER_BITS[j]) + exponent), POWER_TAILS[j]
    o, u = ig.bitcast(f32, w32(HALF_INVERSE_BITS[j]) - exponent), INVERSE_TAILS[j]
    sh, ch = p - o, p + o
    sl, cl = ig.fma(-o, u, (p - sh) - o), ig.fma(o, u, o - (ch - p))
    return sh, ig.fma(p, t, sl), ch, ig.fma(p, t, cl), rh, -n * LN2_SIXTEENTH_LOW


@ig.func
def sinh_f32(x: f32) -> f32:
    """S cosh r + C sinh r."""
    a = abs(x)
    sh, sl, ch, cl, rh, rl = halves(a)
    square = rh * rh
    c = ig.fma(square, ig.fma(TAIL_COSH[0], square, TAIL_COSH[1]), rh * rl)
    r = ig.fma(rh * square, ig.fma(TAIL_SINH[0], square, TAIL_SINH[1]), rl)
    s = ig.fma(ch, rh, sh)
    rest = ig.fma(cl, rh, ig.fma(sl, c, sl)) + ig.fma(ch, rh, sh - s)
    low = ig.fma(sh, c, ig.fma(ch, r, rest))
    error = s * square
    y, below = s + ig.fma(error, SINH_MARGIN, low), s + ig.fma(error, -SINH_MARGIN, low)
    good = (y == below) & (a <= 16.0)
    y = math.copysign(y, x)
    if not good:
        y = sinh_f32_quick(x)
    return y


@ig.func
def cosh_f32(x: f32) -> f32:
    """C cosh r + S sinh r."""
    a = abs(x)
    sh, sl, ch, cl, rh, rl = halves(a)
    square = rh * rh
    c = ig.fma(square, ig.fma(TAIL_COSH[0], square, TAIL_COSH[1]), rh * rl)
    r = ig.fma(rh * square, ig.fma(TAIL_SINH[0], square, TAIL_SINH[1]), rl)
    s = ig.fma(sh, rh, ch)
    rest = ig.fma(sl, rh, cl) + ig.fma(sh, rh, ch - s)
    low = ig.fma(ch, c, ig.fma(sh, r, rest))
    error = s * square
    y, below = s + ig.fma(error, COSH_MARGIN, low), s + ig.fma(error, -COSH_MARGIN, low)
    if not ((y == below) & (a <= 16.0)):
        y = cosh_f32_quick(x)
    return y
