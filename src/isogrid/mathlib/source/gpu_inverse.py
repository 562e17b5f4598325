"""Builds of asin, acos, atan, cbrt, rsqrt of f32 for GPUs. See `gpu`."""

import math

import isogrid as ig
from isogrid import f32, f64, w32, w64
from isogrid.mathlib.source.constants import HALF_PI_HIGH, QUARTER_PI_HIGH, QUICK_ATAN_FIRST, QUICK_ATAN_REST
from isogrid.mathlib.source.gpu import low_word, quotient, settled, upper_word, window
from isogrid.mathlib.source.gpu_constants import GPU_ASIN_FIRST, GPU_ASIN_REST, LONG_ASIN_FIRST, LONG_ASIN_REST
from isogrid.mathlib.source.inverse import acos_f32_pair, asin_f32_pair, atan_f32_pair
from isogrid.mathlib.source.quick_logarithm import ordinary
from isogrid.mathlib.source.roots import cbrt_f32_pair, rsqrt_f32_pair

#: A third of the bits of x, taken from this, are those of something within 4 percent of x^(-1/3).
CUBE_ROOT_START = 0x54A21D2A
#: The words of pi.
PI_UPPER, PI_LOWER = 0x400921FB, 0x54442D18
#: What the correction of a root in f32 may be wrong by, relative to itself.
SLACK = 2.0**-19
#: What `settled` allows for: the largest error that was seen over millions of inputs, and a seventh more at least.
ASIN_NEAR = ACOS_NEAR = window(39.25)
LONGER_NEAR = window(47)
ATAN_NEAR = window(42.5)
CBRT_NEAR = window(43)


@ig.func
def arc_bits(a: f32, large: bool) -> f64:
    """asin a for 0 <= a <= 1/2, and asin(sqrt((1 - a) / 2)) where `large`: there the half is exact in f32, and its root
    is a sum of two f32, as what a first root leaves has the inverse root as its factor. Of a itself nothing is left."""
    half = ig.fma(a, f32(-0.5), f32(0.5))
    near = f32(1.0) / math.sqrt(half)
    s = half * near
    rest = ig.fma(-s, s, half) * near * f32(0.5)
    r = f64(ig.select(large, s, a)) + f64(ig.select(large, rest, f32(0.0)))
    z = r * r
    p = f64(GPU_ASIN_FIRST)
    for j in range(len(GPU_ASIN_REST)):
        p = ig.fma(p, z, GPU_ASIN_REST[j])
    return ig.fma(r * z, p, r)


@ig.func
def longer_arc_bits(a: f32, large: bool) -> f64:
    """The same with an error of 2^-50, for slow paths: the pair builds take five times as long."""
    v = f64(ig.select(large, ig.fma(a, f32(-0.5), f32(0.5)), a))
    z = ig.select(large, v, v * v)
    r = ig.select(large, math.sqrt(max(v, 0.0)), v)
    p = f64(LONG_ASIN_FIRST)
    for j in range(len(LONG_ASIN_REST)):
        p = ig.fma(p, z, LONG_ASIN_REST[j])
    return ig.fma(r * z, p, r)


@ig.func
def arc_sine(v: f64, large: bool) -> f64:
    """pi/2 - 2 asin r where |x| > 1/2."""
    return ig.select(large, ig.fma(-2.0, v, HALF_PI_HIGH), v)


@ig.func
def arc_cosine(v: f64, x: f32, large: bool) -> f64:
    """pi/2 less v with the sign of x, or where |x| > 1/2 twice v with that sign, and pi more below 0. Doubled, negated
    in the upper word; pi and pi/2 have the same lower one, which alone is next to 0."""
    sign = ig.bitcast(w32, x) & 0x80000000
    moved = upper_word(v) + ig.select(large, w32(0x00100000), w32(0x80000000))
    turned = ig.bitcast(f64, (w64(moved ^ sign) << 32) | w64(low_word(v)))
    half_turns = ig.select(large, ig.select(x < 0.0, w32(PI_UPPER), w32(0)), w32(PI_UPPER - 0x00100000))
    return turned + ig.bitcast(f64, (w64(half_turns) << 32) | PI_LOWER)


@ig.func
def asin_f32_longer(x: f32) -> f32:
    large = abs(x) > 0.5
    y, good = settled(arc_sine(longer_arc_bits(abs(x), large), large), LONGER_NEAR)
    y = math.copysign(y, x)
    if not (good & (abs(x) < 1.0)):
        y = asin_f32_pair(x)
    return y


@ig.func
def acos_f32_longer(x: f32) -> f32:
    large = abs(x) > 0.5
    y, good = settled(arc_cosine(longer_arc_bits(abs(x), large), x, large), LONGER_NEAR)
    if not (good & (abs(x) < 1.0)):
        y = acos_f32_pair(x)
    return y


@ig.func
def asin_f32_gpu(x: f32) -> f32:
    """Next to 0 the result is x, which a subnormal rounds to as well."""
    large = abs(x) > 0.5
    y, good = settled(arc_sine(arc_bits(abs(x), large), large), ASIN_NEAR)
    y = math.copysign(y, x)
    if not (good & (abs(x) < 1.0)):
        y = asin_f32_longer(x)
    return y


@ig.func
def acos_f32_gpu(x: f32) -> f32:
    large = abs(x) > 0.5
    y, good = settled(arc_cosine(arc_bits(abs(x), large), x, large), ACOS_NEAR)
    if not (good & (abs(x) < 1.0)):
        y = acos_f32_longer(x)
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
