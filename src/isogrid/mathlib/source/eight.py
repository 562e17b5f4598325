"""Builds of f32 functions for processors of eight lanes, whose tables are dear and whose f64 costs twice an f32.

One polynomial in f64 and the test on bits of `gpu`.
"""

import isogrid as ig
from isogrid import f32, f64, w64
from isogrid.mathlib.source.circular import cos_f32_pair, sin_f32_pair
from isogrid.mathlib.source.constants import ONE_OVER_PI, PI_HIGH, PI_LOW
from isogrid.mathlib.source.exponential import SHIFTER
from isogrid.mathlib.source.gpu import settled
from isogrid.mathlib.source.quick_circular import LARGEST, SINE_NEAR, sine_by_halves


@ig.func
def sin_f32_eight(x: f32) -> f32:
    """Next to 0 the result is x, which a subnormal rounds to as well."""
    a = f64(x)
    shifted = ig.fma(a, ONE_OVER_PI, SHIFTER)
    k = shifted - SHIFTER
    r = ig.fma(-k, PI_LOW, ig.fma(-k, PI_HIGH, a))
    y, good = settled(sine_by_halves(r, ig.bitcast(w64, shifted)), SINE_NEAR)
    if not (good & (abs(x) <= LARGEST)):
        y = sin_f32_pair(x)
    return y


@ig.func
def cos_f32_eight(x: f32) -> f32:
    """cos x = sin(x + pi/2): k counts half-odd multiples of pi."""
    a = f64(x)
    shifted = ig.fma(a, ONE_OVER_PI, 0.5) + SHIFTER
    k = (shifted - SHIFTER) - 0.5
    r = ig.fma(-k, PI_LOW, ig.fma(-k, PI_HIGH, a))
    y, good = settled(sine_by_halves(r, ig.bitcast(w64, shifted)), SINE_NEAR)
    if not (good & (abs(x) <= LARGEST)):
        y = cos_f32_pair(x)
    return y
