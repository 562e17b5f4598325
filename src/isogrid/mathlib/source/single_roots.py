"""rsqrt in f32 alone."""

import math

import isogrid as ig
from isogrid import f32, w32
from isogrid.mathlib.source.single import multiply_pairs, normal_bits, rounded, two_product, two_sum


@ig.func
def rsqrt_triple(m: f32) -> tuple[f32, f32, f32]:
    """s near 1/sqrt(m), and s (t/2 + 3 t^2/8) more by the exact residual t = 1 - m s^2, for 1 <= m < 4."""
    s = 1.0 / math.sqrt(m)
    p, e = two_product(s, s)
    a, b = two_product(m, p)
    c, d = two_product(m, e)
    th, f = two_sum(1.0 - a, -b)
    th, g = two_sum(th, -c)
    h, l = multiply_pairs(th, (f + g) - d, 0.5 * s, f32(0.0))
    return s, h, l + 0.375 * s * th * th


@ig.func
def rsqrt_f32_pairs(x: f32) -> f32:
    """x = 2^2n m with 1 <= m < 4."""
    bits, below = normal_bits(x)
    exponent = (bits >> 23) + 129 - below
    h, m, l = rsqrt_triple(ig.bitcast(f32, (bits & 0x007FFFFF) | (((exponent & 1) + 127) << 23)))
    y = rounded(h, m, l)
    y = ig.bitcast(f32, ig.bitcast(w32, y) + ((128 - (exponent >> 1)) << 23))
    # Asked by the bits: there are devices that take a subnormal for 0.
    whole = ig.bitcast(w32, x)
    y = ig.select(whole < 0x7F800000, y, ig.select(whole == 0x7F800000, f32(0.0), f32(math.nan)))
    return ig.select((whole & 0x7FFFFFFF) == 0, ig.bitcast(f32, 0x7F800000 | whole), y)
