"""Quick builds of the f32 circular functions, for |x| <= 2^17: x = k pi + r with |r| <= pi/2, one polynomial."""

import math

import isogrid as ig
from isogrid import f32, f64, w64
from isogrid.mathlib.source.circular import cos_f32_pair, cospi_f32_pair, sin_f32_pair, sinpi_f32_pair, tan_f32_pair
from isogrid.mathlib.source.constants import (
    HALF_PI_HIGH,
    HALF_PI_LOW,
    ONE_OVER_PI,
    PI_HIGH,
    PI_LOW,
    QUICK_COS4_FIRST,
    QUICK_COS4_REST,
    QUICK_SIN4_FIRST,
    QUICK_SIN4_REST,
    QUICK_SIN_FIRST,
    QUICK_SIN_REST,
    TWO_OVER_PI,
)
from isogrid.mathlib.source.exponential import SHIFTER
from isogrid.mathlib.source.gpu import settled as settled_bits
from isogrid.mathlib.source.gpu import window
from isogrid.mathlib.source.quick import inverse, settled

#: From here on the pair build reduces the argument.
LARGEST = 131072.0
#: What `settled_bits` allows for.
SINE_NEAR = window(41)


@ig.func
def sine(r: f64, shifted: f64) -> f64:
    """sin r for |r| <= pi/2 + tiny, negated where the integer in the low bits of `shifted` is odd."""
    z = r * r
    p = f64(QUICK_SIN_FIRST)
    for j in range(len(QUICK_SIN_REST)):
        p = ig.fma(p, z, QUICK_SIN_REST[j])
    y = ig.fma(r * z, p, r)
    return ig.bitcast(f64, ig.bitcast(w64, y) ^ (ig.bitcast(w64, shifted) << 63))


@ig.func
def sin_f32_quick(x: f32) -> f32:
    a = f64(ig.select(abs(x) <= LARGEST, x, f32(0.0)))
    shifted = ig.fma(a, ONE_OVER_PI, SHIFTER)
    k = shifted - SHIFTER
    r = ig.fma(-k, PI_LOW, ig.fma(-k, PI_HIGH, a))
    y, good = settled(sine(r, shifted))
    y = ig.select(x == 0.0, x, y)
    if not (good & (abs(x) <= LARGEST)):
        y = sin_f32_pair(x)
    return y


@ig.func
def cos_f32_quick(x: f32) -> f32:
    """cos x = sin(x + pi/2): k counts half-odd multiples of pi."""
    a = f64(ig.select(abs(x) <= LARGEST, x, f32(0.0)))
    shifted = ig.fma(a, ONE_OVER_PI, 0.5) + SHIFTER
    k = (shifted - SHIFTER) - 0.5
    r = ig.fma(-k, PI_LOW, ig.fma(-k, PI_HIGH, a))
    y, good = settled(sine(r, shifted))
    if not (good & (abs(x) <= LARGEST)):
        y = cos_f32_pair(x)
    return y


@ig.func
def tan_f32_quick(x: f32) -> f32:
    """x = k pi/2 + r with |r| <= pi/4; sin r / cos r, or -cos r / sin r for an odd k."""
    a = f64(ig.select(abs(x) <= LARGEST, x, f32(1.0)))
    shifted = ig.fma(a, TWO_OVER_PI, SHIFTER)
    k = shifted - SHIFTER
    r = ig.fma(-k, HALF_PI_LOW, ig.fma(-k, HALF_PI_HIGH, a))
    z = r * r
    s = f64(QUICK_SIN4_FIRST)
    for j in range(len(QUICK_SIN4_REST)):
        s = ig.fma(s, z, QUICK_SIN4_REST[j])
    c = f64(QUICK_COS4_FIRST)
    for j in range(len(QUICK_COS4_REST)):
        c = ig.fma(c, z, QUICK_COS4_REST[j])
    sine_r = ig.fma(r * z, s, r)
    cosine_r = ig.fma(z, c, 1.0)
    odd = (ig.bitcast(w64, shifted) & 1) != 0
    y, good = settled(ig.select(odd, -cosine_r, sine_r) * inverse(ig.select(odd, sine_r, cosine_r)))
    y = ig.select(x == 0.0, x, y)
    if not (good & (abs(x) <= LARGEST)):
        y = tan_f32_pair(x)
    return y


@ig.func
def sine_by_halves(r: f64, k: w64) -> f64:
    """(-1)^k sin r for |r| <= pi/2 + tiny, with the sign of a zero. A processor looks ahead over two vectors or so, and
    waits for longer chains."""
    z = r * r
    square = z * z
    p = ig.fma(QUICK_SIN_FIRST, z, QUICK_SIN_REST[0])
    p = ig.fma(p, square, ig.fma(QUICK_SIN_REST[1], z, QUICK_SIN_REST[2]))
    p = ig.fma(p, square, ig.fma(QUICK_SIN_REST[3], z, QUICK_SIN_REST[4]))
    y = ig.fma(z, p, 1.0) * r
    return ig.bitcast(f64, ig.bitcast(w64, y) ^ (k << 63))


@ig.func
def sinpi_f32(x: f32) -> f32:
    """x = k + r with |r| <= 1/2, exactly; integers give a zero with their sign, and nothing else does."""
    a = abs(x)
    wide = f64(x)
    shifted = wide + SHIFTER
    r = wide - (shifted - SHIFTER)
    y, good = settled_bits(sine_by_halves(r * PI_HIGH, ig.bitcast(w64, shifted)), SINE_NEAR)
    zero = y == 0.0
    y = ig.select(zero, math.copysign(f32(0.0), x), y)
    # The test is one of normal results.
    if not (good & (a < 8388608.0) & ((a > 1e-30) | zero)):
        y = sinpi_f32_pair(x)
    return y


@ig.func
def cospi_f32(x: f32) -> f32:
    """sinpi(x + 1/2)."""
    wide = f64(x) + 0.5
    shifted = wide + SHIFTER
    r = wide - (shifted - SHIFTER)
    y, good = settled_bits(sine_by_halves(r * PI_HIGH, ig.bitcast(w64, shifted)), SINE_NEAR)
    y = ig.select(y == 0.0, f32(0.0), y)
    if not (good & (abs(x) < 8388608.0)):
        y = cospi_f32_pair(x)
    return y
