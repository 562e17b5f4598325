"""Builds of erf and erfc of f32 for GPUs: the quick builds with an inverse that is corrected. See `gpu`."""

import math

import isogrid as ig
from isogrid import f32, f64
from isogrid.mathlib.source.constants import LN2_HIGH, LOG2_E, QUICK_EXPM1_FIRST, QUICK_EXPM1_REST
from isogrid.mathlib.source.error_function import erf_f32_pair, erfc_f32_pair
from isogrid.mathlib.source.exponential import SHIFTER
from isogrid.mathlib.source.gpu import low_word, scaled_by, settled, window
from isogrid.mathlib.source.gpu_constants import GPU_ERF_FIRST, GPU_ERF_REST, GPU_ERFC_FIRST, GPU_ERFC_REST
from isogrid.mathlib.source.quick_error import LARGEST

#: From here on erf rounds to 1.
ERF_LARGEST = 3.924
#: erf(a) / a is a polynomial of 1 / (a^2 + the first) less the second.
SHIFT, MIDDLE = 18.0, 0.04277
#: What `settled` allows for: the largest error that was seen over millions of inputs, and a seventh more at least.
ERF_NEAR = window(41)
ERFC_NEAR = window(42)


@ig.func
def erfc_bits(b: f32) -> f64:
    """erfc b for 0 <= b <= 10.2: e^(-b^2) times a polynomial of v = 1 / (b + 3.5), which one step makes of f32's."""
    a = f64(b)
    z = a * a
    shifted = ig.fma(-z, LOG2_E, SHIFTER)
    r = ig.fma(-(shifted - SHIFTER), LN2_HIGH, -z)
    p = f64(QUICK_EXPM1_FIRST)
    for j in range(len(QUICK_EXPM1_REST)):
        p = ig.fma(p, r, QUICK_EXPM1_REST[j])
    p = ig.fma(p, r, 1.0)
    near = f64(f32(1.0) / (b + 3.5))
    v = ig.fma(near, ig.fma(-(a + 3.5), near, 1.0), near)
    q = f64(GPU_ERFC_FIRST)
    for j in range(len(GPU_ERFC_REST)):
        q = ig.fma(q, v, GPU_ERFC_REST[j])
    return scaled_by(p * (q * v), low_word(shifted))


@ig.func
def erf_f32_gpu(x: f32) -> f32:
    """a times one polynomial up to where 1 is what the result rounds to: two of them, for small and large a, would both
    run in most warps. It is exact at 0, so that what subnormals give is not next to a tie."""
    b = abs(x)
    b = ig.select(b > ERF_LARGEST, f32(ERF_LARGEST), b)
    a = f64(b)
    near = f64(f32(1.0) / ig.fma(b, b, f32(SHIFT)))
    u = ig.fma(near, ig.fma(-ig.fma(a, a, SHIFT), near, 1.0), near - MIDDLE)
    p = f64(GPU_ERF_FIRST)
    for j in range(len(GPU_ERF_REST)):
        p = ig.fma(p, u, GPU_ERF_REST[j])
    y, good = settled(a * p, ERF_NEAR)
    y = math.copysign(y, x)
    if not good:
        y = erf_f32_pair(x)
    return y


@ig.func
def erfc_f32_gpu(x: f32) -> f32:
    """Below 0 it is 2 less that of -x. From 9.19 to 10.06 results are subnormal, and 0 beyond."""
    b = abs(x)
    wide = erfc_bits(ig.select(b < LARGEST, b, f32(LARGEST)))
    y, good = settled(ig.select(x < 0.0, 2.0 - wide, wide), ERFC_NEAR)
    if not (good & ((x < 9.19) | (x > 10.06))):
        y = erfc_f32_pair(x)
    return y
