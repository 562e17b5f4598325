"""Quick builds of erf and erfc for f32: erfc a = e^(-a^2) p(t) / (a + 3.5) with t = (a - 3.5) / (a + 3.5), in f64."""

import math

import isogrid as ig
from isogrid import f32, f64
from isogrid.mathlib.source.constants import (
    LN2_HIGH,
    LOG2_E,
    QUICK_ERF_FIRST,
    QUICK_ERF_REST,
    QUICK_ERFC_FIRST,
    QUICK_ERFC_REST,
    QUICK_EXP_FIRST,
    QUICK_EXP_REST,
)
from isogrid.mathlib.source.error_function import erf_f32_pair, erfc_f32_pair
from isogrid.mathlib.source.exponential import SHIFTER
from isogrid.mathlib.source.quick import inverse, settled
from isogrid.mathlib.source.quick_exponential import magnitude, times_power

#: From here on erfc rounds to 0, and 2 less it to 2.
LARGEST = 10.2


@ig.func
def erfc_quick(a: f64, z: f64) -> f64:
    """erfc a for 0 <= a <= 10.2 and z = a^2, which f64 holds of an f32."""
    shifted = ig.fma(-z, LOG2_E, SHIFTER)
    r = ig.fma(-(shifted - SHIFTER), LN2_HIGH, -z)
    p = f64(QUICK_EXP_FIRST)
    for j in range(len(QUICK_EXP_REST)):
        p = ig.fma(p, r, QUICK_EXP_REST[j])
    v = inverse(a + 3.5)
    t = (a - 3.5) * v
    # Odd and even powers side by side: one chain of 15 would be what a processor waits for.
    square = t * t
    odd, even = f64(QUICK_ERFC_FIRST), f64(QUICK_ERFC_REST[0])
    for j in range(7):
        odd = ig.fma(odd, square, QUICK_ERFC_REST[2 * j + 1])
        even = ig.fma(even, square, QUICK_ERFC_REST[2 * j + 2])
    return times_power(p, shifted) * (ig.fma(odd, t, even) * v)


@ig.func
def erf_f32_quick(x: f32) -> f32:
    """A polynomial of a^2 up to 1, 1 - erfc a beyond."""
    a = magnitude(x, LARGEST)
    z = a * a
    p = f64(QUICK_ERF_FIRST)
    for j in range(len(QUICK_ERF_REST)):
        p = ig.fma(p, z, QUICK_ERF_REST[j])
    y, good = settled(ig.select(a < 1.0, a * p, 1.0 - erfc_quick(a, z)))
    y = math.copysign(y, x)
    if not (good & (x == x)):
        y = erf_f32_pair(x)
    return y


@ig.func
def erfc_f32(x: f32) -> f32:
    """Below 0 it is 2 less that of -x."""
    a = magnitude(x, LARGEST)
    wide = erfc_quick(a, a * a)
    y, good = settled(ig.select(x < 0.0, 2.0 - wide, wide))
    if not (good & (x == x)):
        y = erfc_f32_pair(x)
    return y
