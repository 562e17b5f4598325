"""Builds of the f32 logarithms for GPUs: the quick builds with a test on bits. See `gpu`."""

import math

import isogrid as ig
from isogrid import f32, f64, w32, w64
from isogrid.mathlib.source.constants import (
    INVERSE_LN2_HIGH,
    INVERSE_LN10_HIGH,
    LN2_HIGH,
    LOG10_2,
    QUICK_LOG_FIRST,
    QUICK_LOG_REST,
)
from isogrid.mathlib.source.gpu import quotient, root_bits, settled_bits, settled_widely
from isogrid.mathlib.source.logarithm import (
    acosh_f32_pair,
    asinh_f32_pair,
    atanh_f32_pair,
    log1p_f32_pair,
    log2_f32_pair,
    log10_f32_pair,
    log_f32_pair,
)
from isogrid.mathlib.source.quick_logarithm import ROOT_HALF_BITS, log1p_quick, ordinary
from isogrid.mathlib.source.tables import floats

#: The first coefficients of the polynomial in f32.
SHORT_LOG = floats(QUICK_LOG_FIRST, *QUICK_LOG_REST[:4])
#: The upper half of 2^52, whose lower half counts, and that number with 128 in it.
COUNTER = 0x43300000_00000000
COUNTER_128 = 4503599627370624.0


@ig.func
def tail_of_both(short: f32, f: f64) -> f64:
    """(log(1 + f) - f) / f^2, the terms from f^9 on in f32: below 2^-39.2 of log(1 + f) their errors are."""
    q = ig.fma(short, SHORT_LOG[0], SHORT_LOG[1])
    for j in range(2, len(SHORT_LOG)):
        q = ig.fma(q, short, SHORT_LOG[j])
    t = f64(q)
    for j in range(len(SHORT_LOG) - 1, len(QUICK_LOG_REST)):
        t = ig.fma(t, f, QUICK_LOG_REST[j])
    return t


@ig.func
def split_bits(x: f32) -> tuple[f64, f64]:
    """k and log m for a positive normal x = 2^k m, m between sqrt(1/2) and sqrt(2)."""
    bits = ig.bitcast(w32, x)
    above = bits + (0x40000000 - ROOT_HALF_BITS)
    m = ig.bitcast(f32, bits - (above & 0xFF800000) + 0x40000000)
    k = ig.bitcast(f64, COUNTER | w64(above >> 23)) - COUNTER_128
    short = m - 1.0
    f = f64(short)
    return k, ig.fma(f * f, tail_of_both(short, f), f)


@ig.func
def log_f32_gpu(x: f32) -> f32:
    k, log_m = split_bits(x)
    y, good = settled_widely(ig.fma(k, LN2_HIGH, log_m))
    if not (good & ordinary(x)):
        y = log_f32_pair(x)
    return y


@ig.func
def log2_f32_gpu(x: f32) -> f32:
    k, log_m = split_bits(x)
    y, good = settled_widely(ig.fma(log_m, INVERSE_LN2_HIGH, k))
    if not (good & ordinary(x)):
        y = log2_f32_pair(x)
    return y


@ig.func
def log10_f32_gpu(x: f32) -> f32:
    k, log_m = split_bits(x)
    y, good = settled_widely(ig.fma(log_m, INVERSE_LN10_HIGH, k * LOG10_2))
    if not (good & ordinary(x)):
        y = log10_f32_pair(x)
    return y


@ig.func
def log1p_f32_gpu(x: f32) -> f32:
    """Next to 0 the result is x, which a subnormal rounds to as well."""
    y, good = settled_bits(log1p_quick(f64(x)))
    y = math.copysign(y, x)
    if not (good & (x > -1.0) & (x < math.inf)):
        y = log1p_f32_pair(x)
    return y


@ig.func
def asinh_f32_gpu(x: f32) -> f32:
    """log1p(a + a^2 / (1 + sqrt(1 + a^2))); 1 + that is 2a where a is large."""
    a = abs(x)
    b = f64(a)
    z = b * b
    t = b + quotient(z, 1.0 + root_bits(1.0 + z))
    y, good = settled_bits(log1p_quick(ig.select(a < 1e9, t, 2.0 * b - 1.0)))
    y = math.copysign(y, x)
    if not (good & (a < math.inf)):
        y = asinh_f32_pair(x)
    return y


@ig.func
def acosh_f32_gpu(x: f32) -> f32:
    """log1p(t + sqrt(t^2 + 2t)) with t = x - 1."""
    t = f64(x) - 1.0
    u = t + root_bits(ig.fma(t, t, 2.0 * t))
    y, good = settled_bits(log1p_quick(ig.select(x < 1e9, u, 2.0 * t + 1.0)))
    if not (good & (x > 1.0) & (x < math.inf)):
        y = acosh_f32_pair(x)
    return y


@ig.func
def atanh_f32_gpu(x: f32) -> f32:
    """log1p(2a / (1 - a)) / 2."""
    a = f64(abs(x))
    y, good = settled_bits(0.5 * log1p_quick(quotient(2.0 * a, 1.0 - a)))
    y = math.copysign(y, x)
    if not (good & (abs(x) < 1.0)):
        y = atanh_f32_pair(x)
    return y
