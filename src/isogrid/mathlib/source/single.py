"""Arithmetic on unevaluated sums of two or three f32, without f64 and without a fused multiply-add.

A *pair* has about 47 bits, a *triple* about 70: each part is at most 2^-20 of the one before it. The sequences are
Dekker's and Knuth's error-free ones; a product is split by masking the lower 12 bits of each operand, which is exact
for normal products and cannot overflow. They need sums and products rounded to nearest, nothing else: where products
would leave the normal range, callers scale by adding to exponent bits.
"""

import isogrid as ig
from isogrid import f32, w32


@ig.func
def two_sum(a: f32, b: f32) -> tuple[f32, f32]:
    """a + b and its rounding error, for any order of magnitude."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@ig.func
def quick_sum(a: f32, b: f32) -> tuple[f32, f32]:
    """a + b and its rounding error where |a| >= |b| or a is 0."""
    s = a + b
    return s, b - (s - a)


@ig.func
def halves(a: f32) -> tuple[f32, f32]:
    """a as a sum of two numbers of 12 bits."""
    high = ig.bitcast(f32, ig.bitcast(w32, a) & 0xFFFFF000)
    return high, a - high


@ig.func
def two_product(a: f32, b: f32) -> tuple[f32, f32]:
    """a * b and its rounding error."""
    p = a * b
    ah, al = halves(a)
    bh, bl = halves(b)
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


@ig.func
def multiply_pairs(ah: f32, al: f32, bh: f32, bl: f32) -> tuple[f32, f32]:
    """Product of two pairs, relative error below 2^-44."""
    p, e = two_product(ah, bh)
    return quick_sum(p, e + (ah * bl + al * bh))


@ig.func
def step(rh: f32, rl: f32, ph: f32, pl: f32, ch: f32, cl: f32) -> tuple[f32, f32]:
    """c + r * p of pairs, where |r * p| < |c|: one step of Horner's rule."""
    qh, ql = multiply_pairs(rh, rl, ph, pl)
    sh, sl = quick_sum(ch, qh)
    return quick_sum(sh, sl + (ql + cl))


@ig.func
def add_triples(ah: f32, am: f32, al: f32, bh: f32, bm: f32, bl: f32) -> tuple[f32, f32, f32]:
    """Sum of two triples. Where the large parts cancel, the middle one is no longer small beside it."""
    h, e = two_sum(ah, bh)
    m, f = two_sum(am, bm)
    m, g = two_sum(m, e)
    return h, m, (al + bl) + (f + g)


@ig.func
def add_pair(ah: f32, am: f32, al: f32, bh: f32, bl: f32) -> tuple[f32, f32, f32]:
    """A triple, and a pair that is small beside it."""
    h, e = quick_sum(ah, bh)
    m, f = two_sum(am, bl)
    m, g = two_sum(m, e)
    return h, m, al + (f + g)


@ig.func
def multiply_triples(ah: f32, am: f32, al: f32, bh: f32, bm: f32, bl: f32) -> tuple[f32, f32, f32]:
    """Product of two triples, relative error below 2^-64."""
    h, e = two_product(ah, bh)
    p, f = two_product(ah, bm)
    q, g = two_product(am, bh)
    m, d = two_sum(p, q)
    m, c = two_sum(m, e)
    return h, m, (am * bm + (ah * bl + al * bh)) + ((f + g) + (d + c))


@ig.func
def divide_triples(ah: f32, am: f32, al: f32, bh: f32, bm: f32, bl: f32) -> tuple[f32, f32, f32]:
    """Quotient of two triples whose large parts hold them to 2^-20: twice a quotient and its remainder, once more."""
    q = ah / bh
    p, e = two_product(q, bh)
    s, f = two_product(q, bm)
    h, c = two_sum(ah - p, -e)
    h, d = two_sum(h, am)
    h, g = two_sum(h, -s)
    h, l = quick_sum(h, ((al - q * bl) - f) + (c + (d + g)))
    r = h / bh
    p, e = two_product(r, bh)
    return q, r, (((h - p) - e) + (l - r * bm)) / bh


@ig.func
def rounded(h: f32, m: f32, l: f32) -> f32:
    """A triple rounded once to f32.

    m + l is rounded to odd: where inexact, to the neighbour whose last bit is set. Adding it to h then rounds as the
    exact sum does.
    """
    m, l = two_sum(m, l)
    bits = ig.bitcast(w32, m)
    away = (l > 0.0) == (m > 0.0)
    moved = bits + ig.select(away, w32(1), w32(0xFFFFFFFF))
    inexact = (l != 0.0) & ((bits & 1) == 0)
    return h + ig.bitcast(f32, ig.select(inexact, moved, bits))


@ig.func
def normal_bits(x: f32) -> tuple[w32, w32]:
    """Bits of a positive x as if exponents went on below the normal ones, and how many steps below it is.

    A subnormal is shifted by integers, since there are devices whose multiplications take it for 0.
    """
    bits = ig.bitcast(w32, x)
    small = bits < 0x00800000
    zeros = ig.select(small, (w32(ig.clz(bits)) - 8) & 31, w32(0))
    return bits << zeros, zeros
