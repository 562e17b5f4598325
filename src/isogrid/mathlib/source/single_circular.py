"""sin and cos in f32 alone: x = n pi/64 + r with |r| <= pi/128, reduced in integers of 32 bits (Payne and Hanek)."""

import math

import isogrid as ig
from isogrid import f32, w32
from isogrid.mathlib.source.single import (
    add_pair,
    add_triples,
    multiply_pairs,
    multiply_triples,
    quick_sum,
    rounded,
    step,
    two_product,
    two_sum,
)
from isogrid.mathlib.source.single_constants import (
    COS_PAIRS_HIGH,
    COS_PAIRS_LOW,
    COS_TAIL,
    HALF_PI_HIGH,
    HALF_PI_LOW,
    HALF_PI_MIDDLE,
    SIN_PAIRS_HIGH,
    SIN_PAIRS_LOW,
    SIN_TAIL,
    SINES_HIGH,
    SINES_LOW,
    SINES_MIDDLE,
    TWO_OVER_PI,
)

#: Below it r is x itself.
SMALLEST_TURNED = 0.0245


@ig.func
def window(word: w32, next_word: w32, shift: w32) -> w32:
    """32 bits that start `shift` bits into a word."""
    return (word << shift) | ((next_word >> 1) >> (31 - shift))


@ig.func
def quarters(a: f32) -> tuple[w32, w32, w32, w32]:
    """a * 2/pi modulo 4 in units of 2^-126, for a finite a >= 2^-6: the 24-bit mantissa times 128 bits of 2/pi.

    Bits whose products are multiples of 4 are left out, they add whole turns; what is cut off below is less than
    2^-102, and the nearest that an f32 comes to a multiple of pi/2 is 2^-29.
    """
    bits = ig.bitcast(w32, a)
    start = (bits >> 23) - 120
    i = int((start >> 5) & 7)
    shift = start & 31
    mantissa = (bits & 0x007FFFFF) | 0x00800000
    w0 = w32(TWO_OVER_PI[i])
    w1 = w32(TWO_OVER_PI[i + 1])
    w2 = w32(TWO_OVER_PI[i + 2])
    w3 = w32(TWO_OVER_PI[i + 3])
    w4 = w32(TWO_OVER_PI[i + 4])
    v0 = window(w0, w1, shift)
    v1 = window(w1, w2, shift)
    v2 = window(w2, w3, shift)
    v3 = window(w3, w4, shift)
    p3 = mantissa * v3
    p2 = mantissa * v2 + ig.mulhi(mantissa, v3)
    c2 = w32(p2 < mantissa * v2)
    # Neither upper half of a product of 24 and 32 bits is near 2^32, so adding the carry to it cannot wrap.
    p1 = mantissa * v1
    h1 = ig.mulhi(mantissa, v2) + c2
    s1 = p1 + h1
    p0 = mantissa * v0 + ig.mulhi(mantissa, v1) + w32(s1 < h1)
    return p0, s1, p2, p3


@ig.func
def reduced(a: f32) -> tuple[w32, f32, f32, f32]:
    """n modulo 128 and the triple r with a = n pi/64 + r modulo whole turns, for a finite a >= 0."""
    p0, p1, p2, p3 = quarters(ig.select(a < SMALLEST_TURNED, f32(1.0), a))
    n = (p0 + 0x01000000) >> 25
    p0 = p0 - (n << 25)
    negative = (p0 >> 31) != 0
    flip = ig.select(negative, w32(0xFFFFFFFF), w32(0))
    one = flip & 1
    p3 = (p3 ^ flip) + one
    one = ig.select(p3 == 0, one, w32(0))
    p2 = (p2 ^ flip) + one
    one = ig.select(p2 == 0, one, w32(0))
    p1 = (p1 ^ flip) + one
    one = ig.select(p1 == 0, one, w32(0))
    p0 = (p0 ^ flip) + one
    # Numbers of 24 bits, with units of 2^-30, 2^-54, 2^-78, 2^-102.
    g0 = f32(p0) * 9.313225746154785e-10
    g1 = f32(p1 >> 8) * 5.551115123125783e-17
    g2 = f32(((p1 & 255) << 16) | (p2 >> 16)) * 3.308722450212111e-24
    g3 = f32(((p2 & 0xFFFF) << 8) | (p3 >> 24)) * 1.9721522630525295e-31
    # Two rounds of sums leave three parts without gaps, also where the first numbers are 0.
    g2, g3 = quick_sum(g2, g3)
    g1, g2 = quick_sum(g1, g2)
    g0, g1 = quick_sum(g0, g1)
    g2, g3 = quick_sum(g2, g3)
    g1, g2 = quick_sum(g1, g2)
    h, m, l = multiply_triples(g0, g1, g2 + g3, HALF_PI_HIGH, HALF_PI_MIDDLE, HALF_PI_LOW)
    h = ig.select(negative, -h, h)
    m = ig.select(negative, -m, m)
    l = ig.select(negative, -l, l)
    small = a < SMALLEST_TURNED
    h = ig.select(small, a, h)
    m = ig.select(small, f32(0.0), m)
    l = ig.select(small, f32(0.0), l)
    return ig.select(small, w32(0), n), h, m, l


@ig.func
def series(zh: f32, zl: f32, t: f32, first_high: f32, first_low: f32, high: f32, low: f32) -> tuple[f32, f32]:
    """c1 + z (c2 + z t) in pairs."""
    h, l = step(zh, zl, t, f32(0.0), first_high, first_low)
    return step(zh, zl, h, l, high, low)


@ig.func
def turned(n: w32, rh: f32, rm: f32, rl: f32) -> tuple[f32, f32, f32]:
    """sin(n pi/64 + r) = s + s (cos r - 1) + c sin r, with s and c from a table."""
    zh, e = two_product(rh, rh)
    zh, zl = quick_sum(zh, e + 2.0 * (rh * rm))
    t = SIN_TAIL[1] + zh * SIN_TAIL[0]
    h, l = series(zh, zl, t, SIN_PAIRS_HIGH[0], SIN_PAIRS_LOW[0], SIN_PAIRS_HIGH[1], SIN_PAIRS_LOW[1])
    ch, cl = multiply_pairs(zh, zl, rh, rm)
    h, l = multiply_pairs(ch, cl, h, l)
    uh, um, ul = add_pair(rh, rm, rl, h, l)
    t = COS_TAIL[1] + zh * COS_TAIL[0]
    h, l = series(zh, zl, t, COS_PAIRS_HIGH[0], COS_PAIRS_LOW[0], COS_PAIRS_HIGH[1], COS_PAIRS_LOW[1])
    vh, vl = multiply_pairs(zh, zl, h, l)
    i, j = int(n & 127), int((n + 32) & 127)
    sh, sm, sl = SINES_HIGH[i], SINES_MIDDLE[i], SINES_LOW[i]
    vh, vl = multiply_pairs(vh, vl, sh, sm)
    sh, sm, sl = add_pair(sh, sm, sl, vh, vl)
    uh, um, ul = multiply_triples(uh, um, ul, SINES_HIGH[j], SINES_MIDDLE[j], SINES_LOW[j])
    h, m, l = add_triples(sh, sm, sl, uh, um, ul)
    h, m = two_sum(h, m)
    return h, m, l


@ig.func
def sin_triple(a: f32) -> tuple[f32, f32, f32]:
    n, rh, rm, rl = reduced(a)
    return turned(n, rh, rm, rl)


@ig.func
def cos_triple(a: f32) -> tuple[f32, f32, f32]:
    n, rh, rm, rl = reduced(a)
    return turned(n + 32, rh, rm, rl)


@ig.func
def sin_f32_pairs(x: f32) -> f32:
    """x itself where x^3 / 6 is below half its last bit."""
    a = abs(x)
    finite = a < math.inf
    h, m, l = sin_triple(ig.select(finite, a, f32(0.0)))
    y = rounded(h, m, l)
    y = ig.select(x < 0.0, -y, y)
    y = ig.select(a < 0.000244140625, x, y)
    return ig.select(finite, y, f32(math.nan))


@ig.func
def cos_f32_pairs(x: f32) -> f32:
    a = abs(x)
    finite = a < math.inf
    h, m, l = cos_triple(ig.select(finite, a, f32(0.0)))
    return ig.select(finite, rounded(h, m, l), f32(math.nan))
