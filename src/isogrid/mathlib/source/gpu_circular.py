"""Builds of the f32 circular functions for GPUs, for |x| <= 2^17: the quick builds with a test on bits. See `gpu`."""

import math

import isogrid as ig
from isogrid import f32, f64, w32
from isogrid.mathlib.source.circular import (
    cos_f32_pair,
    cospi_f32_pair,
    sin_f32_pair,
    sinpi_f32_pair,
    tan_f32_pair,
)
from isogrid.mathlib.source.constants import (
    HALF_PI_HIGH,
    HALF_PI_LOW,
    ONE_OVER_PI,
    PI_HIGH,
    PI_LOW,
    QUICK_SIN_FIRST,
    QUICK_SIN_REST,
)
from isogrid.mathlib.source.exponential import SHIFTER
from isogrid.mathlib.source.gpu import low_word, negated_if_odd, quotient, settled, window
from isogrid.mathlib.source.gpu_constants import GPU_TAN_FIRST, GPU_TAN_REST, GPU_TURNS
from isogrid.mathlib.source.quick_circular import LARGEST

SIXTEEN_OVER_PI = 16.0 * ONE_OVER_PI
#: What `settled` allows for: the largest error that was seen over millions of inputs, and a seventh more at least.
SIN_NEAR = COS_NEAR = SINPI_NEAR = COSPI_NEAR = window(41)
TAN_NEAR = window(44)


@ig.func
def sine_bits(r: f64, k: w32) -> f64:
    """(-1)^k sin r for |r| <= pi/2 + tiny, with the sign of a zero."""
    z = r * r
    p = f64(QUICK_SIN_FIRST)
    for j in range(len(QUICK_SIN_REST)):
        p = ig.fma(p, z, QUICK_SIN_REST[j])
    return negated_if_odd(ig.fma(z, p, 1.0) * r, k)


@ig.func
def sin_f32_gpu(x: f32) -> f32:
    """Next to 0 the result is x, which a subnormal rounds to as well."""
    a = f64(x)
    shifted = ig.fma(a, ONE_OVER_PI, SHIFTER)
    k = shifted - SHIFTER
    r = ig.fma(-k, PI_LOW, ig.fma(-k, PI_HIGH, a))
    y, good = settled(sine_bits(r, low_word(shifted)), SIN_NEAR)
    if not (good & (abs(x) <= LARGEST)):
        y = sin_f32_pair(x)
    return y


@ig.func
def cos_f32_gpu(x: f32) -> f32:
    """cos x = sin(x + pi/2): k counts half-odd multiples of pi."""
    a = f64(x)
    shifted = ig.fma(a, ONE_OVER_PI, 0.5) + SHIFTER
    k = (shifted - SHIFTER) - 0.5
    r = ig.fma(-k, PI_LOW, ig.fma(-k, PI_HIGH, a))
    y, good = settled(sine_bits(r, low_word(shifted)), COS_NEAR)
    if not (good & (abs(x) <= LARGEST)):
        y = cos_f32_pair(x)
    return y


@ig.func
def tan_f32_gpu(x: f32) -> f32:
    """x = k pi/16 + r with |r| <= pi/32; (S + C t) / (C - S t) with the sine and cosine of k pi/16 and t = tan r. The
    sine of 0 is -0, so that a zero keeps its sign."""
    a = f64(x)
    shifted = ig.fma(a, SIXTEEN_OVER_PI, SHIFTER)
    k = shifted - SHIFTER
    r = ig.fma(-k, 0.125 * HALF_PI_LOW, ig.fma(-k, 0.125 * HALF_PI_HIGH, a))
    z = r * r
    p = f64(GPU_TAN_FIRST)
    for n in range(len(GPU_TAN_REST)):
        p = ig.fma(p, z, GPU_TAN_REST[n])
    t = ig.fma(r * z, p, r)
    j = int((low_word(shifted) << 1) & 30)
    s, c = GPU_TURNS[j], GPU_TURNS[j + 1]
    y, good = settled(quotient(ig.fma(c, t, s), ig.fma(-s, t, c), z), TAN_NEAR)
    if not (good & (abs(x) <= LARGEST)):
        y = tan_f32_pair(x)
    return y


@ig.func
def sinpi_f32_gpu(x: f32) -> f32:
    """x = k + r with |r| <= 1/2, exactly; integers give a zero with their sign."""
    a = f64(x)
    shifted = a + SHIFTER
    r = a - (shifted - SHIFTER)
    y, good = settled(sine_bits(r * PI_HIGH, low_word(shifted)), SINPI_NEAR)
    y = ig.select(r == 0.0, math.copysign(f32(0.0), x), y)
    if not (good & (abs(x) < 8388608.0) & (abs(x) > 1e-30)):
        y = sinpi_f32_pair(x)
    return y


@ig.func
def cospi_f32_gpu(x: f32) -> f32:
    """sinpi(x + 1/2)."""
    a = f64(x) + 0.5
    shifted = a + SHIFTER
    r = a - (shifted - SHIFTER)
    y, good = settled(sine_bits(r * PI_HIGH, low_word(shifted)), COSPI_NEAR)
    y = ig.select(r == 0.0, f32(0.0), y)
    if not (good & (abs(x) < 8388608.0)):
        y = cospi_f32_pair(x)
    return y
