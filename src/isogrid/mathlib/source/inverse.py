"""asin, acos, atan, atan2 in pairs: all are the angle of a point.

angle(y, x) for y, x >= 0: the smaller over the larger, t <= 1; j = rint(8 t); atan t = atan(j/8) + atan u with
u = (y - x j/8) / (x + y j/8), |u| <= 1/15; Taylor's series of u, the terms from u^6 on in f64.
"""

import math

import isogrid as ig
from isogrid import f32, f64, w64
from isogrid.mathlib.source.constants import (
    ATAN_EIGHTHS_HIGH,
    ATAN_EIGHTHS_LOW,
    ATAN_FIRST,
    ATAN_PAIRS,
    ATAN_TAIL,
    HALF_PI_HIGH,
    HALF_PI_LOW,
    PI_HIGH,
    PI_LOW,
    QUARTER_PI_HIGH,
    QUICK_ATAN_FIRST,
    QUICK_ATAN_REST,
)
from isogrid.mathlib.source.exponential import SHIFTER, TINY
from isogrid.mathlib.source.pairs import add, divide, multiply, multiply_one, narrow, square_root, step, two_sum
from isogrid.mathlib.source.quick import settled


@ig.func
def angle(yh: f64, yl: f64, xh: f64, xl: f64) -> tuple[f64, f64]:
    """The angle of the point (x, y) in the first quarter, not the origin."""
    steep = yh > xh
    nh, nl = ig.select(steep, xh, yh), ig.select(steep, xl, yl)
    dh, dl = ig.select(steep, yh, xh), ig.select(steep, yl, xl)
    part = round(8.0 * (nh / dh))
    eighth = 0.125 * part
    index = int(ig.bitcast(w64, part + SHIFTER) & 15)
    ph, pl = multiply_one(dh, dl, -eighth)
    ph, pl = add(nh, nl, ph, pl)
    qh, ql = multiply_one(nh, nl, eighth)
    qh, ql = add(dh, dl, qh, ql)
    uh, ul = divide(ph, pl, qh, ql)
    zh, zl = multiply(uh, ul, uh, ul)
    t = f64(ATAN_FIRST)
    for j in range(len(ATAN_TAIL)):
        t = ig.fma(t, zh, ATAN_TAIL[j])
    h, l = t, f64(0.0)
    for j in range(len(ATAN_PAIRS)):
        h, l = step(zh, zl, h, l, ATAN_PAIRS[j, 0], ATAN_PAIRS[j, 1])
    h, l = multiply(uh, ul, h, l)
    h, l = add(ATAN_EIGHTHS_HIGH[index], ATAN_EIGHTHS_LOW[index], h, l)
    rh, rl = add(HALF_PI_HIGH, HALF_PI_LOW, -h, -l)
    return ig.select(steep, rh, h), ig.select(steep, rl, l)


@ig.func
def beside(a: f64) -> tuple[f64, f64]:
    """sqrt(1 - a^2) for 0 <= a <= 1."""
    mh, ml = two_sum(1.0, -a)
    ph, pl = two_sum(1.0, a)
    h, l = multiply(mh, ml, ph, pl)
    return square_root(h, l)


@ig.func
def asin_f64(x: f64) -> f64:
    a = abs(x)
    bh, bl = beside(min(a, 1.0))
    h, l = angle(min(a, 1.0), 0.0, bh, bl)
    y = ig.select(a > 1.0, f64(math.nan), math.copysign(h + l, x))
    return ig.select(a < TINY, x, y)


@ig.func
def asin_f32_pair(x: f32) -> f32:
    a = abs(x)
    bh, bl = beside(min(f64(a), 1.0))
    h, l = angle(min(f64(a), 1.0), 0.0, bh, bl)
    y = ig.select(a > 1.0, f32(math.nan), math.copysign(narrow(h, l), x))
    return ig.select(a < TINY, x, y)


@ig.func
def acos_pair(x: f64) -> tuple[f64, f64]:
    a = min(abs(x), 1.0)
    bh, bl = beside(a)
    h, l = angle(bh, bl, a, 0.0)
    rh, rl = add(PI_HIGH, PI_LOW, -h, -l)
    return ig.select(x < 0.0, rh, h), ig.select(x < 0.0, rl, l)


@ig.func
def acos_f64(x: f64) -> f64:
    h, l = acos_pair(x)
    return ig.select(abs(x) > 1.0, f64(math.nan), h + l)


@ig.func
def acos_f32_pair(x: f32) -> f32:
    h, l = acos_pair(f64(x))
    return ig.select(abs(x) > 1.0, f32(math.nan), narrow(h, l))


@ig.func
def atan_f64(x: f64) -> f64:
    a = abs(x)
    h, l = angle(min(a, 1.2676506002282294e30), 0.0, 1.0, 0.0)
    return ig.select(a < TINY, x, math.copysign(h + l, x))


@ig.func
def atan_f32_pair(x: f32) -> f32:
    a = abs(x)
    h, l = angle(min(f64(a), 1.2676506002282294e30), 0.0, 1.0, 0.0)
    return ig.select(a < TINY, x, math.copysign(narrow(h, l), x))


@ig.func
def atan2_special(y: f64, x: f64, h: f64, l: f64) -> tuple[f64, f64]:
    """The angle as a pair, given that of |y| and |x| in the first quarter; the sign of y comes later."""
    rh, rl = add(PI_HIGH, PI_LOW, -h, -l)
    left = ig.signbit(x)
    return ig.select(left, rh, h), ig.select(left, rl, l)


@ig.func
def first_quarter(a: f64, b: f64) -> tuple[f64, f64]:
    """`angle(a, b)` for any a, b >= 0: two zeros count as (0, 1), two infinities as (1, 1).

    Ratios beyond 2^200 are as good as infinite, beside pi/2; below it they are the angle, a little less than it.
    """
    origin = (a == 0.0) & (b == 0.0)
    corner = (a == math.inf) & (b == math.inf)
    n = ig.select(origin, f64(0.0), ig.select(corner, f64(1.0), ig.select(a == math.inf, f64(1.0), a)))
    d = ig.select(origin | corner, f64(1.0), ig.select(a == math.inf, f64(0.0), b))
    n = ig.select((b == math.inf) & (not corner), f64(0.0), n)
    d = ig.select((b == math.inf) & (not corner), f64(1.0), d)
    return angle(n, 0.0, d, 0.0)


@ig.func
def atan2_f64(y: f64, x: f64) -> f64:
    """Both scaled by the same power of two, so that products neither overflow nor lose their low parts."""
    a, b = abs(y), abs(x)
    most = max(a, b)
    scale = ig.select(most > 1e150, f64(2.0**-600), ig.select(most < 1e-100, f64(2.0**600), f64(1.0)))
    h, l = first_quarter(a * scale, b * scale)
    h, l = atan2_special(y, x, h, l)
    quotient = a / b
    # Small quotients are the angle: the scaled numerator may have lost digits.
    result = ig.select((quotient < 1e-100) & (not ig.signbit(x)), quotient, h + l)
    result = math.copysign(result, y)
    return ig.select((x != x) | (y != y), f64(math.nan), result)


@ig.func
def atan2_f32(y: f32, x: f32) -> f32:
    """One f64 first; the quotient of two f32 neither overflows nor underflows there."""
    a, b = f64(abs(y)), f64(abs(x))
    ordinary = (a > 0.0) & (b > 0.0) & (a < math.inf) & (b < math.inf)
    a, b = ig.select(ordinary, a, f64(1.0)), ig.select(ordinary, b, f64(1.0))
    middle, outer = a > 0.41421356 * b, a > 2.41421356 * b
    n = ig.select(outer, -b, ig.select(middle, a - b, a))
    d = ig.select(outer, a, ig.select(middle, a + b, b))
    c = ig.select(outer, f64(HALF_PI_HIGH), ig.select(middle, f64(QUARTER_PI_HIGH), f64(0.0)))
    t = n / d
    z = t * t
    p = f64(QUICK_ATAN_FIRST)
    for j in range(len(QUICK_ATAN_REST)):
        p = ig.fma(p, z, QUICK_ATAN_REST[j])
    v = c + ig.fma(t * z, p, t)
    result, good = settled(ig.select(ig.signbit(x), PI_HIGH - v, v))
    result = math.copysign(result, y)
    if not (good & ordinary):
        result = atan2_f32_pair(y, x)
    return result


@ig.func
def atan2_f32_pair(y: f32, x: f32) -> f32:
    h, l = first_quarter(abs(f64(y)), abs(f64(x)))
    h, l = atan2_special(f64(y), f64(x), h, l)
    # The angle of a small quotient is less than it, by less than a pair can show: never exactly between two f32.
    result = math.copysign(narrow(h, l - h * 2.0**-100), y)
    return ig.select((x != x) | (y != y), f32(math.nan), result)
