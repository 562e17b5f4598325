"""Tail build of cbrt in f32: two steps towards the root, then its exact residual."""

import math

import isogrid as ig
from isogrid import f32, w32
from isogrid.mathlib.source.roots import cbrt_f32_pair

#: The residual of an argument below this would have subnormal parts.
LEAST = 2.0**-100
#: What the correction may be wrong by, relative to itself.
SLACK = 2.0**-12


@ig.func
def cbrt_f32(x: f32) -> f32:
    """r = a^(-1/3) from a third of the bits and a step of third order, y = a r^2 by another, then (a - y^3) / (3 y^2).

    The cube is exact as a sum of two; 1 / (3 y^2) is needed to twelve bits only.
    """
    a = abs(x)
    r = ig.bitcast(f32, 0x54A21D2A - (ig.bitcast(w32, a) >> 16) * 21845)
    e = ig.fma(-(a * r), r * r, 1.0)
    r = ig.fma(r * e, ig.fma(e, 0.22222222, 0.33333333), r)
    square = r * r
    u = a * square
    e = ig.fma(-u, r, 1.0)
    k = ig.fma(e, 0.5555556, 0.6666667)
    y = ig.fma(u * e, k, u)
    p = y * y
    c = p * y
    rest = (a - c) - ig.fma(ig.fma(y, y, -p), y, ig.fma(p, y, -c))
    low = rest * (square * k)
    above, below = ig.fma(low, 0.5 + 0.5 * SLACK, y), ig.fma(low, 0.5 - 0.5 * SLACK, y)
    good = (above == below) & (a >= LEAST)
    y = math.copysign(above, x)
    if not good:
        y = cbrt_f32_pair(x)
    return y
