"""What the quick builds share: the test that decides, and quotients and roots by way of f32.

A quick build computes in f64 with a relative error below 2^-39.5. The f32 result is settled where everything within
2^-39 rounds to it, which fails for one input in 8,000; there, and for a NaN, the pair build decides.
"""

import math

import isogrid as ig
from isogrid import f32, f64

MARGIN = 2.0**-39


@ig.func
def settled(y: f64) -> tuple[f32, bool]:
    """y rounded to f32, and whether its error cannot change that."""
    low = f32(ig.fma(y, -MARGIN, y))
    high = f32(ig.fma(y, MARGIN, y))
    return high, low == high


@ig.func
def inverse(d: f64) -> f64:
    """1 / d with an error of 2^-46, for a d that f32 holds to full precision: a Newton step from the f32 quotient."""
    r = f64(1.0 / f32(d))
    return ig.fma(r, ig.fma(-d, r, 1.0), r)


@ig.func
def root(z: f64) -> f64:
    """sqrt(z) with an error of 2^-46, for a z > 0 that f32 holds to full precision."""
    s = math.sqrt(f32(z))
    half = f64(f32(0.5) / s)
    wide = f64(s)
    return ig.fma(ig.fma(-wide, wide, z), half, wide)
