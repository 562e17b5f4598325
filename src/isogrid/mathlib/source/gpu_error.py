"""Builds of erf and erfc of f32 for GPUs: the quick builds with an inverse that is corrected. See `gpu`."""

import math

import isogrid as ig
from isogrid import f32, f64
from isogrid.mathlib.source.constants import (
    GPU_ERF_FIRST,
    GPU_ERF_REST,
    LN2_HIGH,
    LOG2_E,
    QUICK_ERFC_FIRST,
    QUICK_ERFC_REST,
    QUICK_EXP_FIRST,
    QUICK_EXP_REST,
)
from isogrid.mathlib.source.error_function import erf_f32_pair, erfc_f32_pair
from isogrid.mathlib.source.exponential import SHIFTER
from isogrid.mathlib.source.gpu import low_word, quotient, scaled_by, settled_bits, settled_widely
from isogrid.mathlib.source.quick_error import LARGEST
from isogrid.mathlib.source.quick_exponential import magnitude

#: From here on erf rounds to 1.
ERF_LARGEST = 3.924


@ig.func
def erfc_bits(a: f64, z: f64) -> f64:
    """erfc a for 0 <= a <= 10.2 and z = a^2, which f64 holds of an f32."""
    shifted = ig.fma(-z, LOG2_E, SHIFTER)
    r = ig.fma(-(shifted - SHIFTER), LN2_HIGH, -z)
    p = f64(QUICK_EXP_FIRST)
    for j in range(len(QUICK_EXP_REST)):
        p = ig.fma(p, r, QUICK_EXP_REST[j])
    v = quotient(1.0, a + 3.5)
    t = ig.fma(v, -7.0, 1.0)
    q = f64(QUICK_ERFC_FIRST)
    for j in range(len(QUICK_ERFC_REST)):
        q = ig.fma(q, t, QUICK_ERFC_REST[j])
    return scaled_by(p * (q * v), low_word(shifted))


@ig.func
def erf_f32_gpu(x: f32) -> f32:
    """a times one polynomial of a^2 up to where 1 is what the result rounds to: two of them, for small and large a,
    would both run in most warps. p is exact at 0, so that what subnormals give is not next to a tie."""
    b = abs(x)
    a = f64(ig.select(b > ERF_LARGEST, f32(ERF_LARGEST), b))
    u = ig.fma(a, a, -7.7)
    p = f64(GPU_ERF_FIRST)
    for j in range(10):
        p = ig.fma(p, u, GPU_ERF_REST[j])
    for j in range(10, len(GPU_ERF_REST)):
        p = ig.fma(p, u, GPU_ERF_REST[j])
    y, good = settled_widely(a * p)
    y = math.copysign(y, x)
    if not good:
        y = erf_f32_pair(x)
    return y


@ig.func
def erfc_f32_gpu(x: f32) -> f32:
    """Below 0 it is 2 less that of -x. From 9.19 to 10.06 results are subnormal, and 0 beyond."""
    a = magnitude(x, LARGEST)
    wide = erfc_bits(a, a * a)
    y, good = settled_bits(ig.select(x < 0.0, 2.0 - wide, wide))
    if not (good & ((x < 9.19) | (x > 10.06))):
        y = erfc_f32_pair(x)
    return y
