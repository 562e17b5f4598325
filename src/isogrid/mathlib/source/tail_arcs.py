"""Tail builds of asin and acos in f32: asin v for v <= 1/2 around 32 centres, v = |x| or sqrt((1 - |x|) / 2)."""

import math

import isogrid as ig
from isogrid import f32, w32
from isogrid.mathlib.source.quick_inverse import acos_f32_quick, asin_f32_quick
from isogrid.mathlib.source.tail import settled_f32
from isogrid.mathlib.source.tail_exponential import SHORT_SHIFTER
from isogrid.mathlib.source.tail_tables import (
    ARC_2,
    ARC_3,
    ARC_4,
    ARC_5,
    ARC_CENTRES,
    ARC_HIGH,
    ARC_LOW,
    ARC_SLOPES,
    ARC_STEPS,
    HALF_PI_HIGH,
    HALF_PI_LOW,
    PI_HIGH,
    PI_LOW,
)

MARGIN = 2.0**-36
#: Beside a root it is nothing; where the root is 0 it keeps the quotient from being 0 / 0.
TINY = 2.0**-100


@ig.func
def arc_sum(a: f32, large: bool) -> tuple[f32, f32]:
    """asin v as a sum: v = a up to 1/2, and a large a's root with its remainder; not a number for a > 1."""
    z = ig.fma(a, -0.5, 0.5)
    root = math.sqrt(z)
    v = ig.select(large, root, a)
    rest = ig.select(large, ig.fma(-root, root, z) / ig.fma(root, 2.0, TINY), f32(0.0))
    j = int(ig.bitcast(w32, ig.fma(v, ARC_STEPS, SHORT_SHIFTER)) & 31)
    d = v - ARC_CENTRES[j]
    value, slope, curve = ARC_HIGH[j], ARC_SLOPES[j], ARC_2[j]
    s = ig.fma(slope, d, value)
    low = ig.fma(rest, ig.fma(curve, d + d, slope), ARC_LOW[j]) + ig.fma(slope, d, value - s)
    p = ig.fma(ig.fma(ig.fma(ARC_5[j], d, ARC_4[j]), d, ARC_3[j]), d, curve)
    return s, ig.fma(p, d * d, low)


@ig.func
def beyond(high: f32, low: f32, factor: f32, s: f32, rest: f32) -> tuple[f32, f32]:
    """high + low + factor (s + rest), the factor a power of two; high is the larger or 0."""
    t = ig.fma(factor, s, high)
    return t, ig.fma(factor, rest, ig.fma(factor, s, high - t) + low)


@ig.func
def asin_f32(x: f32) -> f32:
    """asin v, or pi/2 - 2 asin v."""
    a = abs(x)
    large = a >= 0.5
    s, low = arc_sum(a, large)
    t, rest = beyond(HALF_PI_HIGH, HALF_PI_LOW, -2.0, s, low)
    y, good = settled_f32(ig.select(large, t, s), ig.select(large, rest, low), MARGIN)
    y = math.copysign(y, x)
    if not good:
        y = asin_f32_quick(x)
    return y


@ig.func
def acos_f32(x: f32) -> f32:
    """pi/2 - asin x; 2 asin v for a large x, pi less that for one below 0."""
    a = abs(x)
    large = a >= 0.5
    s, low = arc_sum(a, large)
    high = ig.select(large, ig.select(x < 0.0, f32(PI_HIGH), f32(0.0)), f32(HALF_PI_HIGH))
    tail = ig.select(large, ig.select(x < 0.0, f32(PI_LOW), f32(0.0)), f32(HALF_PI_LOW))
    factor = ig.select(large, f32(2.0), f32(-1.0))
    s, low = beyond(high, tail, math.copysign(factor, ig.select(large, x, -x)), s, low)
    y, good = settled_f32(s, low, MARGIN)
    if not good:
        y = acos_f32_quick(x)
    return y
