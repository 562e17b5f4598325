"""Builds of the f32 logarithms for GPUs: the quick builds with a test on bits. See `gpu`."""

import math

import isogrid as ig
from isogrid import f32, f64, i32, w32, w64
from isogrid.mathlib.source.constants import INVERSE_LN2_HIGH, INVERSE_LN10_HIGH, LN2_HIGH, LOG10_2
from isogrid.mathlib.source.gpu import from_upper_word, quotient, root_bits, settled, upper_word, window
from isogrid.mathlib.source.gpu_constants import (
    GPU_ATANH_FIRST,
    GPU_ATANH_REST,
    GPU_LOG1P_FIRST,
    GPU_LOG1P_REST,
    GPU_LOG1P_TABLE,
    GPU_LOG_FIRST,
    GPU_LOG_REST,
    GPU_LOG_TABLE,
)
from isogrid.mathlib.source.logarithm import (
    acosh_f32_pair,
    asinh_f32_pair,
    atanh_f32_pair,
    log1p_f32_pair,
    log2_f32_pair,
    log10_f32_pair,
    log_f32_pair,
)
from isogrid.mathlib.source.quick_logarithm import ROOT_HALF_BITS, ordinary
from isogrid.mathlib.source.tables import floats

#: The first coefficients of the polynomial in f32.
SHORT_LOG = floats(GPU_LOG_FIRST, *GPU_LOG_REST[:3])
#: Adding it leaves a multiple of 1/16 below 2, and 16 times that in the low bits.
PART_SHIFTER = 786432.0
#: The same for a multiple of 1/128.
FINE_SHIFTER = 98304.0
#: The upper half of 2^52, whose lower half counts, and that number with 128 or 1024 in it.
COUNTER = 0x43300000_00000000
COUNTER_128 = 4503599627370624.0
COUNTER_1024 = 4503599627371520.0
#: The upper word of sqrt(1/2) in f64.
ROOT_HALF_WORD = 0x3FE6A09E
#: Below it asinh rounds to a, as a^3 / 6 is less than a quarter of a unit.
SMALL = 2.0**-12
#: What `settled` allows for: the largest error that was seen over millions of inputs, and a seventh more at least.
LOG_NEAR = LOG2_NEAR = LOG10_NEAR = window(39.5)
LOG1P_NEAR = ACOSH_NEAR = window(42)
ASINH_NEAR = window(39)
ATANH_NEAR = window(40.5)


@ig.func
def near_part(m: f32) -> tuple[f32, int]:
    """The multiple j / 16 next to 1 / m, or the one beside it, and four bits of j, for m between sqrt(1/2) and sqrt(2):
    one line of memory holds the table."""
    shifted = f32(1.0) / m + PART_SHIFTER
    return shifted - PART_SHIFTER, int(ig.bitcast(w32, shifted) & 15)


@ig.func
def log1p_part(f: f64, q: f64, j: int) -> f64:
    """log(1 + f) - log(j / 16) for |f| < 0.0443, from the value of the polynomial's terms from f^4 on."""
    p = ig.fma(ig.fma(ig.fma(q, f, GPU_LOG_REST[3]), f, GPU_LOG_REST[4]), f, 1.0)
    return ig.fma(f, p, GPU_LOG_TABLE[j])


@ig.func
def fine_part(m: f32) -> tuple[f32, int]:
    """As `near_part`, for multiples j / 128 and seven bits of j: eight lines of memory."""
    shifted = f32(1.0) / m + FINE_SHIFTER
    return shifted - FINE_SHIFTER, int(ig.bitcast(w32, shifted) & 127)


@ig.func
def log1p_wide(f: f64, j: int) -> f64:
    """log(1 + f) - log(j / 128) for |f| < 0.00554, in f64 throughout: two conversions cost more than a term."""
    p = f64(GPU_LOG1P_FIRST)
    for n in range(len(GPU_LOG1P_REST)):
        p = ig.fma(p, f, GPU_LOG1P_REST[n])
    return ig.fma(f, ig.fma(p, f, 1.0), GPU_LOG1P_TABLE[j])


@ig.func
def split_bits(x: f32) -> tuple[f64, f64]:
    """k and log m for a positive normal x = 2^k m, m between sqrt(1/2) and sqrt(2). m c - 1 is exact in f32."""
    bits = ig.bitcast(w32, x)
    above = bits + (0x40000000 - ROOT_HALF_BITS)
    m = ig.bitcast(f32, bits - (above & 0xFF800000) + 0x40000000)
    k = ig.bitcast(f64, COUNTER | w64(above >> 23)) - COUNTER_128
    c, j = near_part(m)
    f = ig.fma(m, c, -1.0)
    # In f32 the errors of these are below 2^-40 of log(1 + f).
    q = ig.fma(ig.fma(ig.fma(f, SHORT_LOG[0], SHORT_LOG[1]), f, SHORT_LOG[2]), f, SHORT_LOG[3])
    return k, log1p_part(f64(f), f64(q), j)


@ig.func
def split_wide(u: f64) -> tuple[f64, f64, int]:
    """k, 2^-k j / 128 and seven bits of j for a positive u = 2^k m of f64, k from -1000 to 1000; m c is next to 1."""
    above = upper_word(u) + (0x40000000 - ROOT_HALF_WORD)
    exponent = above & 0xFFF00000
    k = ig.bitcast(f64, COUNTER | w64(above >> 20)) - COUNTER_1024
    # The upper word of m, less that of 2^-127 and to the left by 3, holds the bits of an f32.
    m = ig.bitcast(f32, (upper_word(u) - exponent + 0x08000000) << 3)
    c, j = fine_part(m)
    return k, from_upper_word((ig.bitcast(w32, c) >> 3) + 0x78000000 - exponent), j


@ig.func
def log_f32_gpu(x: f32) -> f32:
    k, log_m = split_bits(x)
    y, good = settled(ig.fma(k, LN2_HIGH, log_m), LOG_NEAR)
    if not (good & ordinary(x)):
        y = log_f32_pair(x)
    return y


@ig.func
def log2_f32_gpu(x: f32) -> f32:
    k, log_m = split_bits(x)
    y, good = settled(ig.fma(log_m, INVERSE_LN2_HIGH, k), LOG2_NEAR)
    if not (good & ordinary(x)):
        y = log2_f32_pair(x)
    return y


@ig.func
def log10_f32_gpu(x: f32) -> f32:
    k, log_m = split_bits(x)
    y, good = settled(ig.fma(log_m, INVERSE_LN10_HIGH, k * LOG10_2), LOG10_NEAR)
    if not (good & ordinary(x)):
        y = log10_f32_pair(x)
    return y


@ig.func
def log1p_f32_gpu(x: f32) -> f32:
    """1 + x = 2^k m, and (1 + x) 2^-k c - 1 in f64. Next to 0 the result is x, which a subnormal rounds to as well; the
    zeros that are added to it are -0, so that it keeps its sign."""
    bits = ig.bitcast(w32, x + 1.0)
    above = bits + (0x40000000 - ROOT_HALF_BITS)
    exponent = above & 0xFF800000
    c, j = fine_part(ig.bitcast(f32, bits - exponent + 0x40000000))
    part = ig.bitcast(i32, ig.bitcast(w32, c) - exponent) >> 3
    scale = from_upper_word(ig.bitcast(w32, part) + 0x40000000)
    minus_k = COUNTER_128 - ig.bitcast(f64, COUNTER | w64(above >> 23))
    f = ig.fma(f64(x), scale, -(1.0 - scale))
    y, good = settled(ig.fma(minus_k, -LN2_HIGH, log1p_wide(f, j)), LOG1P_NEAR)
    if not (good & (x > -1.0) & (x < math.inf)):
        y = log1p_f32_pair(x)
    return y


@ig.func
def asinh_f32_gpu(x: f32) -> f32:
    """log(a + sqrt(1 + a^2)), and a where 1 in that sum would take the last bits of a."""
    a = abs(x)
    b = f64(a)
    u = b + root_bits(ig.fma(b, b, 1.0))
    k, scale, j = split_wide(u)
    f = ig.fma(u, scale, -1.0)
    y, good = settled(ig.fma(k, LN2_HIGH, log1p_wide(f, j)), ASINH_NEAR)
    y = math.copysign(ig.select(a < SMALL, a, y), x)
    if not (good & (a < math.inf)):
        y = asinh_f32_pair(x)
    return y


@ig.func
def acosh_f32_gpu(x: f32) -> f32:
    """log(x + sqrt(x^2 - 1)); that sum is at least 1 + 2^-11 beyond 1."""
    b = f64(x)
    u = b + root_bits(ig.fma(b, b, -1.0))
    k, scale, j = split_wide(u)
    f = ig.fma(u, scale, -1.0)
    y, good = settled(ig.fma(k, LN2_HIGH, log1p_wide(f, j)), ACOSH_NEAR)
    if not (good & (x > 1.0) & (x < math.inf)):
        y = acosh_f32_pair(x)
    return y


@ig.func
def atanh_f32_gpu(x: f32) -> f32:
    """(1 + a) / (1 - a) = 2^k (1 + s) / (1 - s): atanh a = k ln 2 / 2 + atanh s, s = (1 + a - 2^k (1 - a)) over the sum
    of the two, |s| < 0.2; the terms from s^7 on in f32."""
    b = abs(x)
    above = ig.bitcast(w32, b + 1.0) - ig.bitcast(w32, 1.0 - b) + 0x00400000
    k = ig.bitcast(f64, COUNTER | w64(above >> 23)) - 4503599627370496.0
    power = from_upper_word(((above & 0xFF800000) >> 3) + 0x3FF00000)
    a, more, less = f64(b), 1.0 + power, 1.0 - power
    s = quotient(ig.fma(a, more, less), ig.fma(a, less, more), a)
    z = s * s
    p = f64(GPU_ATANH_FIRST)
    for j in range(len(GPU_ATANH_REST)):
        p = ig.fma(p, z, GPU_ATANH_REST[j])
    y, good = settled(ig.fma(k, 0.5 * LN2_HIGH, ig.fma(s * z, p, s)), ATANH_NEAR)
    y = math.copysign(y, x)
    if not (good & (b < 1.0)):
        y = atanh_f32_pair(x)
    return y
