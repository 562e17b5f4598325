"""Quick builds of asin, acos, atan, rsqrt for f32."""

import math

import isogrid as ig
from isogrid import f32, f64
from isogrid.mathlib.source.constants import (
    HALF_PI_HIGH,
    PI_HIGH,
    QUARTER_PI_HIGH,
    QUICK_ASIN_FIRST,
    QUICK_ASIN_REST,
    QUICK_ATAN_FIRST,
    QUICK_ATAN_REST,
)
from isogrid.mathlib.source.inverse import acos_f32_pair, asin_f32_pair, atan_f32_pair
from isogrid.mathlib.source.quick import inverse, root, settled
from isogrid.mathlib.source.roots import rsqrt_f32_pair

#: What the correction of a root in f32 may be wrong by, relative to itself.
SLACK = 2.0**-19


@ig.func
def arc(a: f64) -> f64:
    """asin a for 0 <= a <= 1/2, and asin(sqrt((1 - a) / 2)) up to 1."""
    large = a > 0.5
    z = ig.select(large, 0.5 - 0.5 * a, a * a)
    r = ig.select(large, root(z), a)
    p = f64(QUICK_ASIN_FIRST)
    for j in range(len(QUICK_ASIN_REST)):
        p = ig.fma(p, z, QUICK_ASIN_REST[j])
    return ig.fma(r * z, p, r)


@ig.func
def asin_f32_quick(x: f32) -> f32:
    a = f64(abs(x))
    v = arc(a)
    y, good = settled(ig.select(a > 0.5, ig.fma(-2.0, v, HALF_PI_HIGH), v))
    y = math.copysign(y, x)
    if not (good & (abs(x) <= 1.0)):
        y = asin_f32_pair(x)
    return y


@ig.func
def acos_f32_quick(x: f32) -> f32:
    a = f64(abs(x))
    v = arc(a)
    signed = f64(math.copysign(f32(1.0), x)) * v
    outer = ig.select(x < 0.0, PI_HIGH - 2.0 * v, 2.0 * v)
    y, good = settled(ig.select(a > 0.5, outer, HALF_PI_HIGH - signed))
    if not (good & (abs(x) <= 1.0)):
        y = acos_f32_pair(x)
    return y


@ig.func
def atan_f32_quick(x: f32) -> f32:
    """atan a = c + atan t: t = a below tan(pi/8), (a - 1) / (a + 1) up to its inverse, -1 / a beyond."""
    b = abs(x)
    a = f64(ig.select(b < 1e30, b, f32(1e30)))
    middle, outer = a > 0.41421356, a > 2.41421356
    n = ig.select(outer, f64(-1.0), ig.select(middle, a - 1.0, a))
    d = ig.select(outer, a, ig.select(middle, a + 1.0, f64(1.0)))
    c = ig.select(outer, f64(HALF_PI_HIGH), ig.select(middle, f64(QUARTER_PI_HIGH), f64(0.0)))
    t = n * inverse(d)
    z = t * t
    p = f64(QUICK_ATAN_FIRST)
    for j in range(len(QUICK_ATAN_REST)):
        p = ig.fma(p, z, QUICK_ATAN_REST[j])
    y, good = settled(c + ig.fma(t * z, p, t))
    y = math.copysign(y, x)
    if not (good & (x == x)):
        y = atan_f32_pair(x)
    return y


@ig.func
def rsqrt_f32(x: f32) -> f32:
    """r next to 1 / sqrt(x) in f32, and r (1 - x r^2) / 2, which is wrong by 2^-20 of itself: the square of x r's error
    is left out. Where r is infinite or a NaN the sum is a NaN."""
    r = f32(1.0) / math.sqrt(x)
    h = x * r
    e = ig.fma(-ig.fma(x, r, -h), r, ig.fma(-h, r, f32(1.0)))
    low = r * e
    y = ig.fma(low, 0.5 + 0.5 * SLACK, r)
    if y != ig.fma(low, 0.5 - 0.5 * SLACK, r):
        y = rsqrt_f32_pair(x)
    return y
