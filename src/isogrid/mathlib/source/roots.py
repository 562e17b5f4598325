"""cbrt, rsqrt and hypot in pairs: an f64 approximation, and a correction from its exact residual."""

import math

import isogrid as ig
from isogrid import f32, f64, w64
from isogrid.mathlib.source.pairs import (
    add,
    multiply_one,
    narrow,
    quick_sum,
    square_root,
    two_product,
)
from isogrid.mathlib.source.quick import settled


@ig.func
def cbrt_pair(a: f64) -> tuple[f64, f64]:
    """The cube root of a positive normal a: a third of the exponent, three steps of Halley, one exact residual."""
    third = ig.mulhi(ig.bitcast(w64, a), 0x5555555555555556) + 0x2A9F7893782DA1CE
    y = ig.bitcast(f64, third)
    for _ in range(3):
        cube = y * y * y
        y = y * ((cube + 2.0 * a) / (2.0 * cube + a))
    sh, sl = two_product(y, y)
    ch, cl = multiply_one(sh, sl, y)
    rest = (a - ch) - cl
    return quick_sum(y, rest / (3.0 * sh))


@ig.func
def cbrt_f64(x: f64) -> f64:
    """Scaled by 2^-300 or 2^300 where cubes would leave the range."""
    a = abs(x)
    small, large = a < 1e-200, a > 1e200
    b = ig.select(small, a * 2.037035976334486e90, ig.select(large, a * 4.909093465297727e-91, a))
    # Subnormal numbers may need it twice.
    tiny = b < 1e-200
    b = ig.select(tiny, b * 2.037035976334486e90, b)
    h, l = cbrt_pair(ig.select(a == 0.0, f64(1.0), b))
    y = h + l
    y = ig.select(small, y * 7.888609052210118e-31, ig.select(large, y * 1.2676506002282294e30, y))
    y = ig.select(tiny, y * 7.888609052210118e-31, y)
    y = math.copysign(y, x)
    return ig.select((a == 0.0) | (a == math.inf), x, y)


@ig.func
def cbrt_f32_pair(x: f32) -> f32:
    a = abs(x)
    h, l = cbrt_pair(f64(ig.select(a == 0.0, f32(1.0), a)))
    y = math.copysign(narrow(h, l), x)
    return ig.select((a == 0.0) | (a == math.inf), x, y)


@ig.func
def rsqrt_pair(x: f64) -> tuple[f64, f64]:
    """1 / sqrt(x) for a normal x whose root's inverse can be squared."""
    s = 1.0 / math.sqrt(x)
    # x s^2, in an order that keeps the low parts normal.
    sh, sl = two_product(x, s)
    ph, pl = multiply_one(sh, sl, s)
    rest = (1.0 - ph) - pl
    return quick_sum(s, 0.5 * s * rest)


@ig.func
def rsqrt_f64(x: f64) -> f64:
    small = x < 1e-280
    h, l = rsqrt_pair(ig.select(small, x * 1.6069380442589903e60, x))
    y = (h + l) * ig.select(small, f64(1.2676506002282294e30), f64(1.0))
    y = ig.select(x == 0.0, math.copysign(f64(math.inf), x), y)
    y = ig.select(x < 0.0, f64(math.nan), y)
    return ig.select(x == math.inf, f64(0.0), y)


@ig.func
def rsqrt_f32_pair(x: f32) -> f32:
    h, l = rsqrt_pair(f64(x))
    y = ig.select(x == 0.0, math.copysign(f32(math.inf), x), narrow(h, l))
    y = ig.select(x < 0.0, f32(math.nan), y)
    return ig.select(x == math.inf, f32(0.0), y)


@ig.func
def hypot_pair(a: f64, b: f64) -> tuple[f64, f64]:
    """sqrt(a^2 + b^2) where the squares neither overflow nor underflow."""
    ah, al = two_product(a, a)
    bh, bl = two_product(b, b)
    sh, sl = add(ah, al, bh, bl)
    return square_root(sh, sl)


@ig.func
def hypot_f64(x: f64, y: f64) -> f64:
    """Scaled by 2^600 or 2^-600 where squares would leave the range."""
    a, b = abs(x), abs(y)
    most = ig.select(a > b, a, b)
    large, small = most > 1e150, most < 1e-140
    scale = ig.select(large, f64(2.0**-600), ig.select(small, f64(2.0**600), f64(1.0)))
    back = ig.select(large, f64(2.0**600), ig.select(small, f64(2.0**-600), f64(1.0)))
    h, l = hypot_pair(a * scale, b * scale)
    result = (h + l) * back
    result = ig.select((x != x) | (y != y), f64(math.nan), result)
    return ig.select((a == math.inf) | (b == math.inf), f64(math.inf), result)


@ig.func
def hypot_f32(x: f32, y: f32) -> f32:
    """The squares are exact in f64, and no f32 leaves its range there."""
    a, b = f64(x), f64(y)
    result, good = settled(math.sqrt(ig.fma(a, a, b * b)))
    if not good:
        h, l = hypot_pair(a, b)
        result = narrow(h, l)
    result = ig.select((x != x) | (y != y), f32(math.nan), result)
    return ig.select((abs(x) == math.inf) | (abs(y) == math.inf), f32(math.inf), result)
