"""exp, exp2, tanh in f32 alone: e^x = 2^k 2^(j/64) e^r, |r| <= ln 2 / 128, as sums of three f32."""

import math

import isogrid as ig
from isogrid import f32, w32
from isogrid.mathlib.source.single import (
    add_pair,
    add_triples,
    divide_triples,
    multiply_pairs,
    multiply_triples,
    quick_sum,
    rounded,
    step,
    two_product,
    two_sum,
)
from isogrid.mathlib.source.single_constants import (
    EXP_64THS,
    EXP_PAIRS_HIGH,
    EXP_PAIRS_LOW,
    EXP_TAIL,
    LN2_64TH_HIGH,
    LN2_64TH_LOW,
    LN2_64TH_MIDDLE,
    LN2_HIGH,
    LN2_LOW,
    LN2_MIDDLE,
    POWERS_HIGH,
    POWERS_LOW,
    POWERS_MIDDLE,
)

#: Adding it leaves an integer below 2^22 in the low bits, as two's complement; the second counts 64ths.
SHIFTER = 12582912.0
SHIFTER_OF_64THS = 196608.0


@ig.func
def expm1_triple(rh: f32, rm: f32, rl: f32) -> tuple[f32, f32, f32]:
    """e^r - 1 = r + r^2/2 + r^3 q(r), relative error below 2^-57."""
    sh, e = two_product(rh, rh)
    sh, sl = quick_sum(sh, e + 2.0 * (rh * rm))
    t = EXP_TAIL[0]
    for j in range(1, len(EXP_TAIL)):
        t = EXP_TAIL[j] + rh * t
    h, l = t, f32(0.0)
    for j in range(len(EXP_PAIRS_HIGH)):
        h, l = step(rh, rm, h, l, EXP_PAIRS_HIGH[j], EXP_PAIRS_LOW[j])
    ch, cl = multiply_pairs(sh, sl, rh, rm)
    h, l = multiply_pairs(ch, cl, h, l)
    ph, pm, pl = add_pair(rh, rm, rl, 0.5 * sh, 0.5 * sl)
    return add_pair(ph, pm, pl, h, l)


@ig.func
def reduced(x: f32) -> tuple[f32, f32, f32, f32]:
    """n and the triple r with x = n ln 2 / 64 + r, for |x| < 110."""
    n = (x * EXP_64THS + SHIFTER) - SHIFTER
    p, e = two_product(n, LN2_64TH_HIGH)
    q, f = two_product(n, LN2_64TH_MIDDLE)
    h, c = two_sum(x - p, -e)
    h, d = two_sum(h, -q)
    h, m = quick_sum(h, c + d)
    m, l = two_sum(m, -f - n * LN2_64TH_LOW)
    return n, h, m, l


@ig.func
def power(n: f32) -> tuple[f32, f32, f32, w32]:
    """2^(j/64) as a triple and k << 23, for n = 64 k + j."""
    bits = ig.bitcast(w32, n + SHIFTER)
    j = int(bits & 63)
    return POWERS_HIGH[j], POWERS_MIDDLE[j], POWERS_LOW[j], (bits >> 6) << 23


@ig.func
def exp_triple(n: f32, rh: f32, rm: f32, rl: f32) -> tuple[f32, f32, f32, w32]:
    """e and k << 23 with 2^(n/64) e^r = 2^k e."""
    th, tm, tl, k = power(n)
    ph, pm, pl = expm1_triple(rh, rm, rl)
    ph, pm, pl = multiply_triples(th, tm, tl, ph, pm, pl)
    h, m, l = add_triples(th, tm, tl, ph, pm, pl)
    return h, m, l, k


@ig.func
def scaled_exp(n: f32, rh: f32, rm: f32, rl: f32) -> f32:
    """2^(n/64) e^r rounded to f32, for -9700 < n <= 8192.

    A subnormal result is the change of the last bits of b = 2^(-126-k), to which the sum is added before rounding.
    """
    h, m, l, k = exp_triple(n, rh, rm, rl)
    y = ig.bitcast(w32, rounded(h, m, l)) + k
    # Normalised, so that h tells whether the sum is below 1.
    h, m = quick_sum(h, m)
    b = 0x00800000 - k
    s, e = two_sum(ig.bitcast(f32, b), h)
    m, f = two_sum(m, e)
    below = ig.bitcast(w32, rounded(s, m, l + f)) - b
    small = (n < -8064.0) | ((n < -8000.0) & (h < 1.0))
    return ig.bitcast(f32, ig.select(small, below, y))


@ig.func
def exp_f32_pairs(x: f32) -> f32:
    a = ig.select(x > -105.0, x, f32(-105.0))
    large = a >= 88.72283935546875
    n, rh, rm, rl = reduced(ig.select(large, f32(88.0), a))
    y = ig.select(large, f32(math.inf), scaled_exp(n, rh, rm, rl))
    return ig.select(x == x, y, x)


@ig.func
def reduced_exp2(x: f32) -> tuple[f32, f32, f32, f32]:
    """n and r with x = n / 64 + f, exactly, and r = f ln 2, for |x| < 160."""
    n = (x + SHIFTER_OF_64THS) - SHIFTER_OF_64THS
    f = x - n
    rh, rm = two_product(f, LN2_HIGH)
    p, e = two_product(f, LN2_MIDDLE)
    rm, c = two_sum(rm, p)
    return n * 64.0, rh, rm, (e + c) + f * LN2_LOW


@ig.func
def exp2_f32_pairs(x: f32) -> f32:
    a = ig.select(x > -151.0, x, f32(-151.0))
    large = a >= 128.0
    n, rh, rm, rl = reduced_exp2(ig.select(large, f32(0.0), a))
    y = scaled_exp(n, rh, rm, rl)
    y = ig.select(large, f32(math.inf), y)
    return ig.select(x == x, y, x)


@ig.func
def tanh_triple(a: f32) -> tuple[f32, f32, f32]:
    """tanh a = e / (e + 2) with e = e^2a - 1 = (2^k t - 1) + 2^k t p, for 2^-12 <= a < 10."""
    n, rh, rm, rl = reduced(2.0 * a)
    th, tm, tl, k = power(n)
    scale = ig.bitcast(f32, k + 0x3F800000)
    ph, pm, pl = expm1_triple(rh, rm, rl)
    ph, pm, pl = multiply_triples(th * scale, tm * scale, tl * scale, ph, pm, pl)
    oh, e = two_sum(th * scale, -1.0)
    om, f = two_sum(e, tm * scale)
    eh, em, el = add_triples(oh, om, f + tl * scale, ph, pm, pl)
    eh, em = two_sum(eh, em)
    dh, dm = two_sum(eh, 2.0)
    dm, g = two_sum(dm, em)
    return divide_triples(eh, em, el, dh, dm, el + g)


@ig.func
def tanh_f32_pairs(x: f32) -> f32:
    """x itself where x^3 / 3 is below half its last bit."""
    a = abs(x)
    h, m, l = tanh_triple(ig.select(a < 9.1, a, f32(9.1)))
    y = math.copysign(rounded(h, m, l), x)
    y = ig.select(a < 0.000244140625, x, y)
    return ig.select(x == x, y, x)
