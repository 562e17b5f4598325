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
)
from isogrid.mathlib.source.exponential import SHIFTER, TINY
from isogrid.mathlib.source.pairs import add, divide, multiply, multiply_one, narrow, square_root, step, two_sum


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
