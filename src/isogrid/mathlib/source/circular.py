"""sin, cos, tan, sinpi, cospi in pairs.

x = q * pi/2 + r with |r| <= pi/4 + tiny, r as a pair with a relative error below 2^-75; Taylor's series of r, the terms
beyond r^9 in f64.
"""

import math

import isogrid as ig
from isogrid import f32, f64, w64
from isogrid.mathlib.source.constants import (
    COS_FIRST,
    COS_PAIRS,
    COS_TAIL,
    HALF_PI_A,
    HALF_PI_B,
    HALF_PI_C,
    HALF_PI_D,
    HALF_PI_HIGH,
    HALF_PI_LOW,
    PI_HIGH,
    PI_LOW,
    SIN_FIRST,
    SIN_PAIRS,
    SIN_TAIL,
    TWO_OVER_PI,
    TWO_OVER_PI_WORDS,
)
from isogrid.mathlib.source.exponential import SHIFTER, TINY, power_of_two
from isogrid.mathlib.source.pairs import divide, multiply, multiply_one, narrow, quick_sum, step, two_sum

#: Up to here the quotient has 20 bits, so its products with the 33-bit parts of pi/2 are exact.
LARGEST_SHORT = 1048576.0


@ig.func
def reduced_short(a: f64) -> tuple[w64, f64, f64]:
    """q and r for 0 <= a <= 2^20: three exact products, the fourth below the last bit."""
    k = round(a * TWO_OVER_PI)
    first = ig.fma(-k, HALF_PI_A, a)
    ah, al = two_sum(first, -k * HALF_PI_B)
    bh, bl = two_sum(al, -k * HALF_PI_C)
    h, l = two_sum(ah, bh)
    h, l = quick_sum(h, l + ig.fma(-k, HALF_PI_D, bl))
    return ig.bitcast(w64, k + SHIFTER), h, l


@ig.func
def window(word: w64, next_word: w64, shift: w64) -> w64:
    """64 bits that start `shift` bits into a word."""
    return (word << shift) | ((next_word >> 1) >> (63 - shift))


@ig.func
def reduced_long(a: f64) -> tuple[w64, f64, f64]:
    """q and r for a >= 2^20 (Payne and Hanek): the 53-bit mantissa times 192 bits of 2/pi, modulo 4.

    Bits of weight 4 and more are left out, they add whole turns; what is cut off below is less than 2^-137, and the
    nearest that an f64 comes to a multiple of pi/2 is 2^-62.
    """
    bits = ig.bitcast(w64, a)
    exponent = (bits >> 52) & 2047
    mantissa = (bits & 0xFFFFFFFFFFFFF) | 0x10000000000000
    start = exponent - 1013
    index = (start >> 6) & 31
    shift = start & 63
    w0 = w64(TWO_OVER_PI_WORDS[int(index)])
    w1 = w64(TWO_OVER_PI_WORDS[int(index) + 1])
    w2 = w64(TWO_OVER_PI_WORDS[int(index) + 2])
    w3 = w64(TWO_OVER_PI_WORDS[int(index) + 3])
    v0 = window(w0, w1, shift)
    v1 = window(w1, w2, shift)
    v2 = window(w2, w3, shift)
    low = mantissa * v2
    middle = mantissa * v1 + ig.mulhi(mantissa, v2)
    carry = w64(middle < mantissa * v1)
    high = mantissa * v0 + ig.mulhi(mantissa, v1) + carry
    # The two upper bits count quarters; round them to nearest, and take the rest as a signed fraction.
    q = (high + 0x2000000000000000) >> 62
    f0 = (high << 2) | (middle >> 62)
    f1 = (middle << 2) | (low >> 62)
    f2 = low << 2
    negative = (f0 >> 63) != 0
    f2 = ig.select(negative, ~f2 + 1, f2)
    f1 = ig.select(negative, ~f1 + w64(f2 == 0), f1)
    f0 = ig.select(negative, ~f0 + w64((f2 == 0) & (f1 == 0)), f0)
    zeros = w64(ig.clz(f0)) & 63
    g0 = window(f0, f1, zeros)
    g1 = window(f1, f2, zeros)
    scale = power_of_two(-f64(zeros))
    h = f64(g0 >> 11) * 1.1102230246251565e-16 * scale
    l = f64(((g0 & 2047) << 42) | (g1 >> 22)) * 1.232595164407831e-32 * scale
    rh, rl = multiply(HALF_PI_HIGH, HALF_PI_LOW, h, l)
    return q, ig.select(negative, -rh, rh), ig.select(negative, -rl, rl)


@ig.func
def reduced_turn(a: f64) -> tuple[w64, f64, f64]:
    """q, whose low two bits count, and r for a finite a >= 0."""
    q, h, l = reduced_short(min(a, LARGEST_SHORT))
    if a > LARGEST_SHORT:
        q, h, l = reduced_long(a)
    return q, h, l


@ig.func
def sin_series(rh: f64, rl: f64, zh: f64, zl: f64) -> tuple[f64, f64]:
    """sin r for |r| <= 0.7855 and z = r^2."""
    t = f64(SIN_FIRST)
    for j in range(len(SIN_TAIL)):
        t = ig.fma(t, zh, SIN_TAIL[j])
    h, l = t, f64(0.0)
    for j in range(len(SIN_PAIRS)):
        h, l = step(zh, zl, h, l, SIN_PAIRS[j, 0], SIN_PAIRS[j, 1])
    return multiply(rh, rl, h, l)


@ig.func
def cos_series(zh: f64, zl: f64) -> tuple[f64, f64]:
    """cos r for |r| <= 0.7855 and z = r^2."""
    t = f64(COS_FIRST)
    for j in range(len(COS_TAIL)):
        t = ig.fma(t, zh, COS_TAIL[j])
    h, l = t, f64(0.0)
    for j in range(len(COS_PAIRS)):
        h, l = step(zh, zl, h, l, COS_PAIRS[j, 0], COS_PAIRS[j, 1])
    return h, l


@ig.func
def quarter(q: w64, rh: f64, rl: f64) -> tuple[f64, f64]:
    """sin(q * pi/2 + r)."""
    zh, zl = multiply(rh, rl, rh, rl)
    sh, sl = sin_series(rh, rl, zh, zl)
    ch, cl = cos_series(zh, zl)
    odd = (q & 1) != 0
    h = ig.select(odd, ch, sh)
    l = ig.select(odd, cl, sl)
    negative = (q & 2) != 0
    return ig.select(negative, -h, h), ig.select(negative, -l, l)


@ig.func
def sin_pair(a: f64) -> tuple[f64, f64]:
    q, rh, rl = reduced_turn(a)
    return quarter(q, rh, rl)


@ig.func
def cos_pair(a: f64) -> tuple[f64, f64]:
    q, rh, rl = reduced_turn(a)
    return quarter(q + 1, rh, rl)


@ig.func
def tan_pair(a: f64) -> tuple[f64, f64]:
    q, rh, rl = reduced_turn(a)
    zh, zl = multiply(rh, rl, rh, rl)
    sh, sl = sin_series(rh, rl, zh, zl)
    ch, cl = cos_series(zh, zl)
    odd = (q & 1) != 0
    return divide(ig.select(odd, -ch, sh), ig.select(odd, -cl, sl), ig.select(odd, sh, ch), ig.select(odd, sl, cl))


@ig.func
def sin_f64(x: f64) -> f64:
    a = abs(x)
    h, l = sin_pair(a)
    y = ig.select(x < 0.0, -(h + l), h + l)
    return ig.select(a < TINY, x, ig.select(a < math.inf, y, f64(math.nan)))


@ig.func
def sin_f32_pair(x: f32) -> f32:
    a = abs(x)
    h, l = sin_pair(f64(a))
    y = narrow(h, l)
    y = ig.select(x < 0.0, -y, y)
    return ig.select(a < TINY, x, ig.select(a < math.inf, y, f32(math.nan)))


@ig.func
def cos_f64(x: f64) -> f64:
    h, l = cos_pair(abs(x))
    return ig.select(abs(x) < math.inf, h + l, f64(math.nan))


@ig.func
def cos_f32_pair(x: f32) -> f32:
    h, l = cos_pair(abs(f64(x)))
    return ig.select(abs(x) < math.inf, narrow(h, l), f32(math.nan))


@ig.func
def tan_f64(x: f64) -> f64:
    a = abs(x)
    h, l = tan_pair(a)
    y = ig.select(x < 0.0, -(h + l), h + l)
    return ig.select(a < TINY, x, ig.select(a < math.inf, y, f64(math.nan)))


@ig.func
def tan_f32_pair(x: f32) -> f32:
    a = abs(x)
    h, l = tan_pair(f64(a))
    y = narrow(h, l)
    y = ig.select(x < 0.0, -y, y)
    return ig.select(a < TINY, x, ig.select(a < math.inf, y, f32(math.nan)))


@ig.func
def half_turns(a: f64) -> tuple[w64, f64, f64]:
    """q and r with pi * a = q * pi/2 + r, modulo whole turns: the fraction is exact."""
    turn = a - 2.0 * math.floor(a * 0.5)
    k = round(turn * 2.0)
    rh, rl = multiply_one(PI_HIGH, PI_LOW, turn - 0.5 * k)
    return ig.bitcast(w64, k + SHIFTER), rh, rl


@ig.func
def sinpi_f64(x: f64) -> f64:
    a = abs(x)
    q, rh, rl = half_turns(a)
    h, l = quarter(q, rh, rl)
    y = h + l
    # Integers give a zero with their own sign.
    y = ig.select(y == 0.0, math.copysign(f64(0.0), x), ig.select(x < 0.0, -y, y))
    # Products of subnormal numbers lose their low parts.
    y = ig.select(a < 1e-280, x * PI_HIGH, y)
    return ig.select(a < math.inf, y, f64(math.nan))


@ig.func
def sinpi_f32_pair(x: f32) -> f32:
    a = abs(x)
    q, rh, rl = half_turns(f64(a))
    h, l = quarter(q, rh, rl)
    y = narrow(h, l)
    y = ig.select(y == 0.0, math.copysign(f32(0.0), x), ig.select(x < 0.0, -y, y))
    return ig.select(a < math.inf, y, f32(math.nan))


@ig.func
def cospi_f64(x: f64) -> f64:
    q, rh, rl = half_turns(abs(x))
    h, l = quarter(q + 1, rh, rl)
    return ig.select(abs(x) < math.inf, abs(h + l) if h == 0.0 else h + l, f64(math.nan))


@ig.func
def cospi_f32_pair(x: f32) -> f32:
    q, rh, rl = half_turns(abs(f64(x)))
    h, l = quarter(q + 1, rh, rl)
    y = narrow(h, l)
    return ig.select(abs(x) < math.inf, abs(y) if y == 0.0 else y, f32(math.nan))
