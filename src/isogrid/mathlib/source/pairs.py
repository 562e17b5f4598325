"""Arithmetic on unevaluated sums of two f64, `h + l` with |l| <= ulp(h) / 2: about 104 bits.

The sequences are the classic error-free ones of Dekker and Knuth with a fused multiply-add; the bounds of their
compositions are those of Joldes, Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of
double-word arithmetic" (2017). None is valid for infinities: callers select their special values at the end.
"""

import math

import isogrid as ig
from isogrid import f32, f64, w64


@ig.func
def two_sum(a: f64, b: f64) -> tuple[f64, f64]:
    """a + b and its rounding error, for any order of magnitude."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@ig.func
def quick_sum(a: f64, b: f64) -> tuple[f64, f64]:
    """a + b and its rounding error where |a| >= |b| or a is 0."""
    s = a + b
    return s, b - (s - a)


@ig.func
def two_product(a: f64, b: f64) -> tuple[f64, f64]:
    """a * b and its rounding error."""
    p = a * b
    return p, ig.fma(a, b, -p)


@ig.func
def add(ah: f64, al: f64, bh: f64, bl: f64) -> tuple[f64, f64]:
    """Sum of two pairs, relative error below 3 * 2^-106 also where they cancel."""
    sh, sl = two_sum(ah, bh)
    th, tl = two_sum(al, bl)
    vh, vl = quick_sum(sh, sl + th)
    return quick_sum(vh, tl + vl)


@ig.func
def add_one(ah: f64, al: f64, b: f64) -> tuple[f64, f64]:
    """Pair plus f64."""
    sh, sl = two_sum(ah, b)
    return quick_sum(sh, al + sl)


@ig.func
def multiply(ah: f64, al: f64, bh: f64, bl: f64) -> tuple[f64, f64]:
    """Product of two pairs, relative error below 5 * 2^-106."""
    ph, pl = two_product(ah, bh)
    return quick_sum(ph, pl + ig.fma(al, bh, ah * bl))


@ig.func
def multiply_one(ah: f64, al: f64, b: f64) -> tuple[f64, f64]:
    """Pair times f64."""
    ph, pl = two_product(ah, b)
    return quick_sum(ph, ig.fma(al, b, pl))


@ig.func
def divide(ah: f64, al: f64, bh: f64, bl: f64) -> tuple[f64, f64]:
    """Quotient of two pairs: a first quotient, its exact remainder, a second quotient; error below 10 * 2^-106."""
    q = ah / bh
    rest = ig.fma(-q, bh, ah) + ig.fma(-q, bl, al)
    return quick_sum(q, rest / bh)


@ig.func
def square_root(ah: f64, al: f64) -> tuple[f64, f64]:
    """Root of a pair that is not negative; 0 for 0."""
    s = math.sqrt(ah)
    rest = ig.fma(-s, s, ah) + al
    return quick_sum(s, ig.select(ah > 0.0, rest / (s + s), f64(0.0)))


@ig.func
def step(rh: f64, rl: f64, ph: f64, pl: f64, ch: f64, cl: f64) -> tuple[f64, f64]:
    """c + r * p of pairs, where |r * p| < |c|: one step of Horner's rule."""
    qh, ql = multiply(rh, rl, ph, pl)
    sh, sl = quick_sum(ch, qh)
    return quick_sum(sh, sl + (ql + cl))


@ig.func
def to_odd(h: f64, l: f64) -> f64:
    """h + l rounded to odd: where inexact, the neighbour whose last bit is set. Rounding it again to f32 is exact."""
    bits = ig.bitcast(w64, h)
    away = (l > 0.0) == (h > 0.0)
    moved = bits + ig.select(away, w64(1), w64(0xFFFFFFFFFFFFFFFF))
    inexact = (l != 0.0) & ((bits & 1) == 0)
    return ig.bitcast(f64, ig.select(inexact, moved, bits))


@ig.func
def narrow(h: f64, l: f64) -> f32:
    """h + l rounded once to f32."""
    return f32(to_odd(h, l))
