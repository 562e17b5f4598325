"""Builds of erf and erfc of f32 for GPUs: the quick builds with an inverse that is corrected. See `gpu`."""

import math

import isogrid as ig
from isogrid import f32, f64, w32
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
from isogrid.mathlib.source.gpu import low_word, quotient, scaled_by, settled_bits
from isogrid.mathlib.source.quick import settled
from isogrid.mathlib.source.quick_error import LARGEST
from isogrid.mathlib.source.quick_exponential import magnitude

#: From here on erf rounds to 1, in f64 too.
ERF_LARGEST = 9.0


@ig.func
def erfc_bits(a: f64, z: f64) -> f64:
    """erfc a for 0 <= a <= 10.2 and z = a^2, which f64 holds of an f32."""
    shifted = ig.fma(-z, LOG2_E, SHIFTER)
    r = ig.fma(-(shifted - SHIFTER), LN2_HIGH, -z)
    p = f64(QUICK_EXP_FIRST)
    for j in range(len(QUICK_EXP_REST)):
        p = ig.fma(p, r, QUICK_EXP_REST[j])
    v = quotient(1.0, a + 3.5)
    t = (a - 3.5) * v
    q = f64(QUICK_ERFC_FIRST)
    for j in range(len(QUICK_ERFC_REST)):
        q = ig.fma(q, t, QUICK_ERFC_REST[j])
    return scaled_by(p * (q * v), low_word(shifted))


@ig.func
def normal_or_zero(x: f32) -> bool:
    """Whether x is 0, normal or infinite."""
    rest = (ig.bitcast(w32, x) << 1) - 0x01000000
    return (rest <= 0xFE000000) | (x == 0.0)


@ig.func
def erf_f32_gpu(x: f32) -> f32:
    """A polynomial of a^2 up to 1, 1 - erfc a beyond; the slope at 0 is no whole number, so subnormals go apart."""
    a = magnitude(x, ERF_LARGEST)
    z = a * a
    p = f64(QUICK_ERF_FIRST)
    for j in range(len(QUICK_ERF_REST)):
        p = ig.fma(p, z, QUICK_ERF_REST[j])
    y, good = settled_bits(ig.select(a < 1.0, a * p, 1.0 - erfc_bits(a, z)))
    y = math.copysign(y, x)
    if not (good & normal_or_zero(x)):
        y = erf_f32_pair(x)
    return y


@ig.func
def erfc_f32_gpu(x: f32) -> f32:
    """Below 0 it is 2 less that of -x. Results may be subnormal: the test rounds twice."""
    a = magnitude(x, LARGEST)
    wide = erfc_bits(a, a * a)
    y, good = settled(ig.select(x < 0.0, 2.0 - wide, wide))
    if not (good & (x == x)):
        y = erfc_f32_pair(x)
    return y
