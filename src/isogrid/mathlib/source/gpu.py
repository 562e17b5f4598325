"""What the builds for GPUs share: f64 throughout, one conversion each way, a test on the bits of the result.

A GPU with many f64 units runs them beside those for integers, so that a short polynomial in f64 costs less than f32
with a tail. Conversions are dear, a quarter of the rate of f64: so the test looks at the bits behind an f32 instead of
rounding twice. Where the 29 bits lie within the error of a half, the pair build decides: one input in 11,600 for an
error of 2^-39.5, one in 93,000 for one of 2^-42.5. An inverse 1 / x outside a slow path is a start that the next steps
correct: a target may take any value within 2^-18 of it, in f32 within 2^-22.
"""

import math

import isogrid as ig
from isogrid import f32, f64, w32, w64


def window(bits: float) -> int:
    """For `settled`: a relative error of 2^-bits in the lower 29 bits of an f64, to the left by 3."""
    return math.ceil(2.0 ** (56 - bits))


@ig.func
def settled(y: f64, near: w32) -> tuple[f32, bool]:
    """y rounded to f32, and whether its error cannot change that: for f32 results that are normal, or y = 0."""
    rest = w32(ig.bitcast(w64, y)) << 3
    return f32(y), rest - (0x80000000 - near) > 2 * near


@ig.func
def inverse(d: f64, spare: f64) -> f64:
    """1 / d with an error of 2^-52, from any value within 2^-18 of it: its error to the third power. The lower half of
    that value is the one of `spare`, which nothing else needs any more: hardware gives the upper half of a start alone,
    and need not clear the other register of the two."""
    start = ig.bitcast(w64, 1.0 / d) & 0xFFFFFFFF_00000000
    r = ig.bitcast(f64, start | (ig.bitcast(w64, spare) & 0xFFFFFFFF))
    e = ig.fma(-d, r, 1.0)
    return ig.fma(r, ig.fma(e, e, e), r)


@ig.func
def quotient(n: f64, d: f64, spare: f64) -> f64:
    """n / d with an error of 2^-51 and the sign of a zero. See `inverse`."""
    return n * inverse(d, spare)


@ig.func
def root_bits(z: f64) -> f64:
    """sqrt(z) for z > 0 with an error of 2^-51, from any value within 2^-18 of 1 / sqrt(z)."""
    r = 1.0 / math.sqrt(z)
    s = z * r
    e = ig.fma(-s, r, 1.0)
    return ig.fma(s * e, ig.fma(e, 0.375, 0.5), s)


@ig.func
def power_bits(k: w32) -> f64:
    """2^k for a k in -1022..1023."""
    return ig.bitcast(f64, w64((k << 20) + 0x3FF00000) << 32)


@ig.func
def scaled_by(p: f64, k: w32) -> f64:
    """p * 2^k for a normal p and product, in the upper half alone."""
    bits = ig.bitcast(w64, p)
    high = w32(bits >> 32) + (k << 20)
    return ig.bitcast(f64, (w64(high) << 32) | (bits & 0xFFFFFFFF))


@ig.func
def negated_if_odd(y: f64, k: w32) -> f64:
    """(-1)^k y."""
    bits = ig.bitcast(w64, y)
    high = w32(bits >> 32) ^ (k << 31)
    return ig.bitcast(f64, (w64(high) << 32) | (bits & 0xFFFFFFFF))


@ig.func
def low_word(y: f64) -> w32:
    """The lower half of the bits."""
    return w32(ig.bitcast(w64, y))


@ig.func
def upper_word(y: f64) -> w32:
    """The upper half of the bits."""
    return w32(ig.bitcast(w64, y) >> 32)


@ig.func
def from_upper_word(word: w32) -> f64:
    """The f64 with this upper half of its bits and zeros below."""
    return ig.bitcast(f64, w64(word) << 32)
