"""Builds of asin, acos, atan, cbrt, rsqrt of f32 for GPUs. See `gpu`."""

import math

import isogrid as ig
from isogrid import f32, f64, w32, w64
from isogrid.mathlib.source.constants import (
    GPU_ASIN_FIRST,
    GPU_ASIN_REST,
    HALF_PI_HIGH,
    QUARTER_PI_HIGH,
    QUICK_ATAN_FIRST,
    QUICK_ATAN_REST,
)
from isogrid.mathlib.source.gpu import from_upper_word, quotient, settled, window
from isogrid.mathlib.source.inverse import acos_f32_pair, asin_f32_pair, atan_f32_pair
from isogrid.mathlib.source.quick_logarithm import ordinary
from isogrid.mathlib.source.roots import cbrt_f32_pair, rsqrt_f32_pair

#: A third of the bits of x, taken from this, are those of something within 4 percent of x^(-1/3).
CUBE_ROOT_START = 0x54A21D2A
#: What the correction of a root in f32 may be wrong by, relative to itself.
SLACK = 2.0**-19
#: What `settled` allows for: the largest error that was seen over millions of inputs, and a seventh more at least.
ASIN_NEAR = window(41.25)
ACOS_NEAR = window(42)
ATAN_NEAR = window(42.5)
CBRT_NEAR = window(43)


@ig.func
def arc_bits(a: f32, large: bool) -> f64:
    """asin a for 0 <= a <= 1/2, and asin(sqrt((1 - a) / 2)) where `large`: there the half is exact in f32, and one step
    makes its root of the inverse root in f32."""
    half = ig.fma(a, f32(-0.5), f32(0.5))
    near = f64(f32(1.0) / math.sqrt(half))
    v = f64(ig.select(large, half, a))
    s = v * near
    z = ig.select(large, v, v * v)
    r = ig.select(large, ig.fma(s * ig.fma(-s, near, 1.0), 0.5, s), v)
    p = f64(GPU_ASIN_FIRST)
    for j in range(len(GPU_ASIN_REST)):
        p = ig.fma(p, z, GPU_ASIN_REST[j])
    return ig.fma(r * z, p, r)


@ig.func
def asin_f32_gpu(x: f32) -> f32:
    """pi/2 - 2 asin r where |x| > 1/2. Next to 0 the result is x, which a subnormal rounds to as well."""
    large = abs(x) > 0.5
    v = arc_bits(abs(x), large)
    y, good = settled(ig.select(large, ig.fma(-2.0, v, HALF_PI_HIGH), v), ASIN_NEAR)
    y = math.copysign(y, x)
    if not (good & (abs(x) < 1.0)):
        y = asin_f32_pair(x)
    return y


@ig.func
def acos_f32_gpu(x: f32) -> f32:
    """n pi/2 + c asin r: c is 1 or -1 with n = 1, and 2 with n = 0 or -2 with n = 2 where |x| > 1/2."""
    large = abs(x) > 0.5
    v = arc_bits(abs(x), large)
    sign = ig.bitcast(w32, x) & 0x80000000
    n = from_upper_word(ig.select(large, sign >> 1, w32(0x3FF00000)))
    c = from_upper_word(ig.select(large, w32(0x40000000), w32(0xBFF00000)) ^ sign)
    y, good = settled(ig.fma(c, v, n * HALF_PI_HIGH), ACOS_NEAR)
    if not (good & (abs(x) < 1.0)):
        y = acos_f32_pair(x)
    return y


@ig.func
def one_or_zero(one: bool) -> f64:
    return ig.bitcast(f64, w64(ig.select(one, w32(0x3FF00000), w32(0))) << 32)


@ig.func
def atan_f32_gpu(x: f32) -> f32:
    """atan a = c + atan t: t = a below tan(pi/8), (a - 1) / (a + 1) up to its inverse, -1 / a beyond."""
    b = abs(x)
    a = f64(b)
    u, v = one_or_zero(b <= 2.4142137), one_or_zero(b > 0.41421357)
    t = quotient(ig.fma(u, a, -v), ig.fma(v, a, u), 0.0)
    z = t * t
    p = f64(QUICK_ATAN_FIRST)
    for j in range(len(QUICK_ATAN_REST)):
        p = ig.fma(p, z, QUICK_ATAN_REST[j])
    c = ig.fma(v - u, QUARTER_PI_HIGH, QUARTER_PI_HIGH)
    y, good = settled(ig.fma(t, ig.fma(z, p, 1.0), c), ATAN_NEAR)
    y = math.copysign(y, x)
    if not (good & (b <= 1e30)):
        y = atan_f32_pair(x)
    return y


@ig.func
def cbrt_f32_gpu(x: f32) -> f32:
    """a r^2 for r next to a^(-1/3): a step of fourth order for r in f32, one for the result in f64."""
    a = abs(x)
    r = ig.bitcast(f32, CUBE_ROOT_START - ig.mulhi(ig.bitcast(w32, a), w32(0x55555556)))
    e = ig.fma(-(a * r), r * r, 1.0)
    r = ig.fma(r * e, ig.fma(ig.fma(e, 0.17283951, 0.22222222), e, 0.33333333), r)
    w = f64(r)
    t = f64(a) * w
    y = t * w
    d = ig.fma(-y, w, 1.0)
    y = ig.fma(y * d, ig.fma(d, 0.5555555555555556, 0.6666666666666666), y)
    result, good = settled(y, CBRT_NEAR)
    result = math.copysign(result, x)
    if not (good & ordinary(a)):
        result = cbrt_f32_pair(x)
    return result


@ig.func
def rsqrt_f32_gpu(x: f32) -> f32:
    """r next to 1 / sqrt(x) in f32, and r (1 - x r^2) / 2, which is wrong by 2^-20 of itself: the square of x r's error
    is left out. Where the start is infinite or a NaN the sum is a NaN."""
    r = f32(1.0) / math.sqrt(x)
    h = x * r
    e = ig.fma(-ig.fma(x, r, -h), r, ig.fma(-h, r, f32(1.0)))
    low = r * e
    y = ig.fma(low, 0.5 + 0.5 * SLACK, r)
    if y != ig.fma(low, 0.5 - 0.5 * SLACK, r):
        y = rsqrt_f32_pair(x)
    return y
