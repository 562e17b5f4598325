"""exp, exp2, exp10, expm1, sinh, cosh, tanh in pairs.

e^x = 2^k * (1 + p): k = rint(x / ln 2), r = x - k ln 2 as a pair, |r| <= 0.3466, p = r + r^2/2 + ... by Taylor's
series, the terms from r^8 on in f64 (relative error of p below 2^-78), the others in pairs.
"""

import math

import isogrid as ig
from isogrid import f32, f64, w64
from isogrid.mathlib.source.constants import (
    EXP_FIRST,
    EXP_PAIRS,
    EXP_TAIL,
    LN2_A,
    LN2_B,
    LN2_C,
    LN2_HIGH,
    LN2_LOW,
    LN10_HIGH,
    LN10_LOW,
    LOG2_10,
    LOG2_E,
)
from isogrid.mathlib.source.pairs import add, add_one, divide, multiply, multiply_one, step, to_odd, two_sum

#: Adding it leaves an integer below 2^51 in the low bits, as two's complement.
SHIFTER = 6755399441055744.0
#: Below it odd functions, and e^x - 1, are x to the last bit.
TINY = 2.0**-60


@ig.func
def power_of_two(k: f64) -> f64:
    """2^k for an integral k in -1022..1023."""
    return ig.bitcast(f64, (ig.bitcast(w64, k + SHIFTER) + 1023) << 52)


@ig.func
def limited(x: f64, bound: f64) -> f64:
    """x brought into -bound..bound; a NaN stays."""
    x = ig.select(x > bound, bound, x)
    return ig.select(x < -bound, -bound, x)


@ig.func
def expm1_series(rh: f64, rl: f64) -> tuple[f64, f64]:
    """e^r - 1 for |r| <= 0.3467."""
    t = f64(EXP_FIRST)
    for j in range(len(EXP_TAIL)):
        t = ig.fma(t, rh, EXP_TAIL[j])
    h, l = t, f64(0.0)
    for j in range(len(EXP_PAIRS)):
        h, l = step(rh, rl, h, l, EXP_PAIRS[j, 0], EXP_PAIRS[j, 1])
    return multiply(rh, rl, h, l)


@ig.func
def reduced(xh: f64, xl: f64) -> tuple[f64, f64, f64]:
    """k and the pair r with x = k ln 2 + r, for |x| < 1200."""
    k = round(xh * LOG2_E)
    th, tl = two_sum(ig.fma(-k, LN2_A, xh), -k * LN2_B)
    rh, rl = two_sum(th, tl + ig.fma(-k, LN2_C, xl))
    return k, rh, rl


@ig.func
def exp_pair(xh: f64, xl: f64) -> tuple[f64, f64, f64]:
    """k and the pair e with e^x = e * 2^k."""
    k, rh, rl = reduced(xh, xl)
    ph, pl = expm1_series(rh, rl)
    h, l = add_one(ph, pl, 1.0)
    return k, h, l


@ig.func
def scaled(k: f64, h: f64, l: f64) -> f64:
    """(h + l) * 2^k in f64, for |k| < 2000: the second multiplication alone rounds."""
    half = round(k * 0.5)
    return (h + l) * power_of_two(half) * power_of_two(k - half)


@ig.func
def scaled_f32(k: f64, h: f64, l: f64) -> f32:
    """(h + l) * 2^k rounded once to f32, for |k| < 1000."""
    return f32(to_odd(h, l) * power_of_two(k))


@ig.func
def exp_f64(x: f64) -> f64:
    k, h, l = exp_pair(limited(x, 800.0), 0.0)
    return scaled(k, h, l)


@ig.func
def exp_f32_pair(x: f32) -> f32:
    k, h, l = exp_pair(limited(f64(x), 200.0), 0.0)
    return scaled_f32(k, h, l)


@ig.func
def exp2_pair(x: f64) -> tuple[f64, f64, f64]:
    """k and the pair e with 2^x = e * 2^k: the fraction times ln 2 goes through the series."""
    k = round(x)
    rh, rl = multiply_one(LN2_HIGH, LN2_LOW, x - k)
    ph, pl = expm1_series(rh, rl)
    h, l = add_one(ph, pl, 1.0)
    return k, h, l


@ig.func
def exp2_f64(x: f64) -> f64:
    k, h, l = exp2_pair(limited(x, 1200.0))
    return scaled(k, h, l)


@ig.func
def exp2_f32_pair(x: f32) -> f32:
    k, h, l = exp2_pair(limited(f64(x), 300.0))
    return scaled_f32(k, h, l)


@ig.func
def exp10_pair(x: f64) -> tuple[f64, f64, f64]:
    """k and the pair e with 10^x = e * 2^k; x ln 10 - k ln 2 cancels, so both products are pairs."""
    k = round(x * LOG2_10)
    xh, xl = multiply_one(LN10_HIGH, LN10_LOW, x)
    th, tl = two_sum(ig.fma(-k, LN2_A, xh), -k * LN2_B)
    rh, rl = two_sum(th, tl + ig.fma(-k, LN2_C, xl))
    ph, pl = expm1_series(rh, rl)
    h, l = add_one(ph, pl, 1.0)
    return k, h, l


@ig.func
def exp10_f64(x: f64) -> f64:
    k, h, l = exp10_pair(limited(x, 350.0))
    return scaled(k, h, l)


@ig.func
def exp10_f32_pair(x: f32) -> f32:
    k, h, l = exp10_pair(limited(f64(x), 100.0))
    return scaled_f32(k, h, l)


@ig.func
def expm1_pair(xh: f64, xl: f64) -> tuple[f64, f64, f64]:
    """k and the pair e with e^x - 1 = e * 2^k: (1 + p) - 2^-k, where 1 - 2^-k is exact as a pair."""
    k, rh, rl = reduced(xh, xl)
    ph, pl = expm1_series(rh, rl)
    sh, sl = two_sum(1.0, -power_of_two(max(-k, -1000.0)))
    h, l = add(sh, sl, ph, pl)
    return k, h, l


@ig.func
def expm1_f64(x: f64) -> f64:
    k, h, l = expm1_pair(ig.select(x < -60.0, f64(-60.0), limited(x, 800.0)), 0.0)
    return ig.select(abs(x) < TINY, x, scaled(k, h, l))


@ig.func
def expm1_f32_pair(x: f32) -> f32:
    k, h, l = expm1_pair(ig.select(x < -60.0, f64(-60.0), limited(f64(x), 200.0)), 0.0)
    return ig.select(abs(x) < TINY, x, scaled_f32(k, h, l))


@ig.func
def sinh_pair(a: f64) -> tuple[f64, f64, f64]:
    """k and the pair e with sinh a = e * 2^k, a >= 0: with s = 2^-2k and w = p / (1 + p), 2e = p + (1 - s) + s w."""
    k, rh, rl = reduced(a, 0.0)
    ph, pl = expm1_series(rh, rl)
    s = power_of_two(max(-2.0 * k, -1000.0))
    qh, ql = add_one(ph, pl, 1.0)
    wh, wl = divide(ph, pl, qh, ql)
    oh, ol = two_sum(1.0, -s)
    th, tl = add(ph, pl, oh, ol)
    h, l = add(th, tl, s * wh, s * wl)
    return k - 1.0, h, l


@ig.func
def sinh_f64(x: f64) -> f64:
    k, h, l = sinh_pair(min(abs(x), 800.0))
    return ig.select(abs(x) < TINY, x, math.copysign(scaled(k, h, l), x))


@ig.func
def sinh_f32_pair(x: f32) -> f32:
    k, h, l = sinh_pair(min(abs(f64(x)), 200.0))
    return ig.select(abs(x) < TINY, x, math.copysign(scaled_f32(k, h, l), x))


@ig.func
def cosh_pair(a: f64) -> tuple[f64, f64, f64]:
    """k and the pair e with cosh a = e * 2^k: 2e = (1 + p) + s / (1 + p)."""
    k, rh, rl = reduced(a, 0.0)
    ph, pl = expm1_series(rh, rl)
    s = power_of_two(max(-2.0 * k, -1000.0))
    qh, ql = add_one(ph, pl, 1.0)
    wh, wl = divide(s, 0.0, qh, ql)
    h, l = add(qh, ql, wh, wl)
    return k - 1.0, h, l


@ig.func
def cosh_f64(x: f64) -> f64:
    k, h, l = cosh_pair(min(abs(x), 800.0))
    return scaled(k, h, l)


@ig.func
def cosh_f32_pair(x: f32) -> f32:
    k, h, l = cosh_pair(min(abs(f64(x)), 200.0))
    return scaled_f32(k, h, l)


@ig.func
def tanh_pair(a: f64) -> tuple[f64, f64]:
    """tanh a = E / (E + 2) with E = e^2a - 1, for 0 <= a < 30."""
    k, eh, el = expm1_pair(2.0 * a, 0.0)
    scale = power_of_two(k)
    dh, dl = add_one(eh * scale, el * scale, 2.0)
    return divide(eh * scale, el * scale, dh, dl)


@ig.func
def tanh_f64(x: f64) -> f64:
    h, l = tanh_pair(min(abs(x), 24.0))
    return ig.select(abs(x) < TINY, x, math.copysign(h + l, x))


@ig.func
def tanh_f32_pair(x: f32) -> f32:
    h, l = tanh_pair(min(abs(f64(x)), 24.0))
    return ig.select(abs(x) < TINY, x, math.copysign(f32(to_odd(h, l)), x))
