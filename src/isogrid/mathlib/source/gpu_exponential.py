"""Builds of the f32 exponentials for GPUs: the quick builds with a test on bits. See `gpu`."""

import math

import isogrid as ig
from isogrid import f32, f64, w32
from isogrid.mathlib.source.constants import (
    LN2_HIGH,
    LN2_LOW,
    LOG2_10,
    LOG2_E,
    LOG10_2,
    QUICK_EXP2_FIRST,
    QUICK_EXP2_REST,
    QUICK_EXP10_FIRST,
    QUICK_EXP10_REST,
    QUICK_EXPM1_FIRST,
    QUICK_EXPM1_REST,
)
from isogrid.mathlib.source.exponential import (
    SHIFTER,
    cosh_f32_pair,
    exp2_f32_pair,
    exp10_f32_pair,
    exp_f32_pair,
    expm1_f32_pair,
    sinh_f32_pair,
    tanh_f32_pair,
)
from isogrid.mathlib.source.gpu import (
    from_upper_word,
    inverse,
    low_word,
    power_bits,
    quotient,
    scaled_by,
    settled,
    window,
)
from isogrid.mathlib.source.gpu_constants import (
    GPU_COSH_FIRST,
    GPU_COSH_REST,
    GPU_EXP_FIRST,
    GPU_EXP_REST,
    GPU_SINH_FIRST,
    GPU_SINH_REST,
)
from isogrid.mathlib.source.tables import doubles, floats

#: Adding it leaves an integer below 2^22 in the low bits, as two's complement.
SHORT_SHIFTER = 12582912.0
#: As `SHIFTER`, for one less.
ONE_LESS_SHIFTER = SHIFTER - 1.0
#: 1/n! from 13 down to 0: what is left out is 2^-57 of e^r.
LONG_EXP = doubles(*(1 / math.factorial(n) for n in range(13, -1, -1)))
#: The first coefficients of 2^f in f32.
SHORT_EXP2 = floats(QUICK_EXP2_FIRST, *QUICK_EXP2_REST[:2])
#: What `settled` allows for: the largest error that was seen over millions of inputs, and a seventh more at least.
EXP_NEAR = COSH_NEAR = window(40)
EXP2_NEAR = EXP10_NEAR = window(39.5)
COSH_LONGER_NEAR = window(47)
EXPM1_NEAR = SINH_NEAR = TANH_NEAR = window(42.5)


@ig.func
def exp_f32_gpu(x: f32) -> f32:
    a = f64(x)
    shifted = ig.fma(a, LOG2_E, SHIFTER)
    r = ig.fma(-(shifted - SHIFTER), LN2_HIGH, a)
    p = f64(GPU_EXP_FIRST)
    for j in range(len(GPU_EXP_REST)):
        p = ig.fma(p, r, GPU_EXP_REST[j])
    y, good = settled(scaled_by(p, low_word(shifted)), EXP_NEAR)
    if not (good & (abs(x) <= 87.0)):
        y = exp_f32_pair(x)
    return y


@ig.func
def exp2_f32_gpu(x: f32) -> f32:
    """x = k + f exactly, in f32; the terms from f^6 on, below 2^-18 of the result, in f32 too."""
    shifted = x + SHORT_SHIFTER
    f = x - (shifted - SHORT_SHIFTER)
    r, p = f64(f), f64(ig.fma(ig.fma(f, SHORT_EXP2[0], SHORT_EXP2[1]), f, SHORT_EXP2[2]))
    for j in range(2, len(QUICK_EXP2_REST)):
        p = ig.fma(p, r, QUICK_EXP2_REST[j])
    y, good = settled(scaled_by(p, ig.bitcast(w32, shifted)), EXP2_NEAR)
    if not (good & (abs(x) <= 125.0)):
        y = exp2_f32_pair(x)
    return y


@ig.func
def exp10_f32_gpu(x: f32) -> f32:
    a = f64(x)
    shifted = ig.fma(a, LOG2_10, SHIFTER)
    r = ig.fma(-(shifted - SHIFTER), LOG10_2, a)
    p = f64(QUICK_EXP10_FIRST)
    for j in range(len(QUICK_EXP10_REST)):
        p = ig.fma(p, r, QUICK_EXP10_REST[j])
    y, good = settled(scaled_by(p, low_word(shifted)), EXP10_NEAR)
    if not (good & (abs(x) <= 37.5)):
        y = exp10_f32_pair(x)
    return y


@ig.func
def expm1_bits(a: f64) -> tuple[f64, f64]:
    """e^a - 1 for |a| <= 400, and what of a is left."""
    shifted = ig.fma(a, LOG2_E, SHIFTER)
    r = ig.fma(-(shifted - SHIFTER), LN2_HIGH, a)
    p = f64(QUICK_EXPM1_FIRST)
    for j in range(len(QUICK_EXPM1_REST)):
        p = ig.fma(p, r, QUICK_EXPM1_REST[j])
    s = power_bits(low_word(shifted))
    return ig.fma(s, p * r, s - 1.0), r


@ig.func
def expm1_f32_gpu(x: f32) -> f32:
    """Next to 0 the result is x, which a subnormal rounds to as well."""
    m, _ = expm1_bits(f64(x))
    y, good = settled(m, EXPM1_NEAR)
    y = math.copysign(y, x)
    if not (good & (abs(x) <= 88.0)):
        y = expm1_f32_pair(x)
    return y


@ig.func
def halves(x: f32) -> tuple[f64, f64, f64, f64]:
    """cosh r, sinh r and 2^(k-1) +- 2^(-k-1) for x = k ln 2 + r, |x| <= 88."""
    a = f64(x)
    shifted = ig.fma(a, LOG2_E, SHIFTER)
    r = ig.fma(-(shifted - SHIFTER), LN2_HIGH, a)
    z = r * r
    c, s = f64(GPU_COSH_FIRST), f64(GPU_SINH_FIRST)
    for j in range(len(GPU_COSH_REST)):
        c = ig.fma(c, z, GPU_COSH_REST[j])
        s = ig.fma(s, z, GPU_SINH_REST[j])
    k = low_word(shifted) << 20
    up, down = from_upper_word(k + 0x3FE00000), from_upper_word(0x3FE00000 - k)
    return ig.fma(c, z, 1.0), ig.fma(s, z, 1.0) * r, up + down, up - down


@ig.func
def sinh_f32_gpu(x: f32) -> f32:
    """Next to 0 the result is x, which a subnormal rounds to as well."""
    cosine, sine, both, rest = halves(x)
    y, good = settled(ig.fma(cosine, rest, sine * both), SINH_NEAR)
    y = math.copysign(y, x)
    if not (good & (abs(x) <= 88.0)):
        y = sinh_f32_pair(x)
    return y


@ig.func
def cosh_f32_longer(x: f32) -> f32:
    """The same with an error of 2^-50, where the pair build takes ten times as long."""
    a = min(abs(f64(x)), 100.0)
    k = ig.fma(a, LOG2_E, SHIFTER) - SHIFTER
    r = ig.fma(-k, LN2_LOW, ig.fma(-k, LN2_HIGH, a))
    p = f64(LONG_EXP[0])
    for j in range(1, len(LONG_EXP)):
        p = ig.fma(p, r, LONG_EXP[j])
    half = scaled_by(p, low_word(k + ONE_LESS_SHIFTER))
    y, good = settled(half + 0.25 / half, COSH_LONGER_NEAR)
    if not (good & (abs(x) <= 88.0)):
        y = cosh_f32_pair(x)
    return y


@ig.func
def cosh_f32_gpu(x: f32) -> f32:
    """h + 1 / (4 h) with h = e^x / 2."""
    a = f64(x)
    shifted = ig.fma(a, LOG2_E, ONE_LESS_SHIFTER)
    r = ig.fma(-(shifted - ONE_LESS_SHIFTER), LN2_HIGH, a)
    p = f64(GPU_EXP_FIRST)
    for j in range(len(GPU_EXP_REST)):
        p = ig.fma(p, r, GPU_EXP_REST[j])
    half = scaled_by(p, low_word(shifted))
    y, good = settled(ig.fma(inverse(half, r), 0.25, half), COSH_NEAR)
    if not (good & (abs(x) <= 88.0)):
        y = cosh_f32_longer(x)
    return y


@ig.func
def tanh_f32_gpu(x: f32) -> f32:
    """m / (m + 2) with m = e^2|x| - 1."""
    a = abs(x)
    m, r = expm1_bits(f64(2.0 * a))
    y, good = settled(quotient(m, m + 2.0, r), TANH_NEAR)
    y = math.copysign(y, x)
    if not (good & (a <= 15.0)):
        y = tanh_f32_pair(x)
    return y
