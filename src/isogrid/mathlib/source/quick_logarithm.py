"""Quick builds of the f32 logarithms: log(1 + f) = f + f^2 Q(f), without a division."""

import math

import isogrid as ig
from isogrid import f32, f64, w32
from isogrid.mathlib.source.constants import (
    INVERSE_LN2_HIGH,
    INVERSE_LN10_HIGH,
    LN2_HIGH,
    LOG10_2,
    QUICK_LOG_FIRST,
    QUICK_LOG_REST,
)
from isogrid.mathlib.source.logarithm import (
    acosh_f32_pair,
    asinh_f32_pair,
    atanh_f32_pair,
    log1p_f32_pair,
    log2_f32_pair,
    log10_f32_pair,
    log_f32_pair,
    split,
)
from isogrid.mathlib.source.quick import inverse, root, settled

#: The bits of sqrt(1/2) in f32.
ROOT_HALF_BITS = 0x3F3504F3


@ig.func
def split_f32(x: f32) -> tuple[f64, f64]:
    """k and m - 1 for a positive normal x = 2^k m, m between sqrt(1/2) and sqrt(2)."""
    bits = ig.bitcast(w32, x)
    above = bits - ROOT_HALF_BITS
    # 2^23 + 256 + k as a float, from integers.
    k = ig.bitcast(f32, (above >> 23) + 0x4B000000)
    k = ig.select(k >= 8388864.0, k - 8389120.0, k - 8388608.0)
    m = ig.bitcast(f32, bits - (above & 0xFF800000))
    return f64(k), f64(m - 1.0)


@ig.func
def log1p_tail(f: f64) -> f64:
    """(log(1 + f) - f) / f^2."""
    q = f64(QUICK_LOG_FIRST)
    for j in range(len(QUICK_LOG_REST)):
        q = ig.fma(q, f, QUICK_LOG_REST[j])
    return q


@ig.func
def ordinary(x: f32) -> bool:
    """Whether x is positive, normal and finite."""
    return ig.bitcast(w32, x) - 0x00800000 < w32(0x7F000000)


@ig.func
def log_f32_quick(x: f32) -> f32:
    k, f = split_f32(x)
    y, good = settled(ig.fma(k, LN2_HIGH, ig.fma(f * f, log1p_tail(f), f)))
    if not (good & ordinary(x)):
        y = log_f32_pair(x)
    return y


@ig.func
def log2_f32_quick(x: f32) -> f32:
    k, f = split_f32(x)
    y, good = settled(ig.fma(ig.fma(f * f, log1p_tail(f), f), INVERSE_LN2_HIGH, k))
    if not (good & ordinary(x)):
        y = log2_f32_pair(x)
    return y


@ig.func
def log10_f32_quick(x: f32) -> f32:
    k, f = split_f32(x)
    y, good = settled(ig.fma(ig.fma(f * f, log1p_tail(f), f), INVERSE_LN10_HIGH, k * LOG10_2))
    if not (good & ordinary(x)):
        y = log10_f32_pair(x)
    return y


@ig.func
def log1p_quick(x: f64) -> f64:
    """log(1 + x) for x > -1 below 2^1000: the argument itself where 1 + x needs no scaling."""
    k, m = split(1.0 + x)
    plain = (x > -0.2928) & (x < 0.4142)
    f = ig.select(plain, x, m - 1.0)
    return ig.fma(ig.select(plain, f64(0.0), k), LN2_HIGH, ig.fma(f * f, log1p_tail(f), f))


@ig.func
def log1p_f32_quick(x: f32) -> f32:
    y, good = settled(log1p_quick(f64(x)))
    y = ig.select(x == 0.0, x, y)
    if not (good & (x > -1.0) & (x < math.inf)):
        y = log1p_f32_pair(x)
    return y


@ig.func
def asinh_f32_quick(x: f32) -> f32:
    """log1p(a + a^2 / (1 + sqrt(1 + a^2))); 1 + that is 2a where a is large."""
    a = abs(x)
    b = f64(ig.select(a < 1e9, a, f32(1e9)))
    z = b * b
    t = ig.fma(z, inverse(1.0 + root(1.0 + z)), b)
    y, good = settled(log1p_quick(ig.select(a < 1e9, t, 2.0 * f64(a) - 1.0)))
    y = math.copysign(y, x)
    if not (good & (a < math.inf)):
        y = asinh_f32_pair(x)
    return y


@ig.func
def acosh_f32_quick(x: f32) -> f32:
    """log1p(t + sqrt(t^2 + 2t)) with t = x - 1."""
    inside = (x > 1.0) & (x < 1e9)
    t = f64(ig.select(inside, x, f32(2.0))) - 1.0
    u = t + root(ig.fma(t, t, 2.0 * t))
    y, good = settled(log1p_quick(ig.select(inside, u, 2.0 * f64(x) - 1.0)))
    y = ig.select(x == 1.0, f32(0.0), y)
    if not ((good & (x > 1.0) & (x < math.inf)) | (x == 1.0)):
        y = acosh_f32_pair(x)
    return y


@ig.func
def atanh_f32_quick(x: f32) -> f32:
    """log1p(2a / (1 - a)) / 2."""
    a = abs(x)
    b = f64(ig.select(a < 1.0, a, f32(0.5)))
    y, good = settled(0.5 * log1p_quick(2.0 * b * inverse(1.0 - b)))
    y = math.copysign(y, x)
    if not (good & (a < 1.0)):
        y = atanh_f32_pair(x)
    return y
