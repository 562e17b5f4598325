"""Functions whose results are exact: remainder, nextafter, ldexp, frexp, round_away."""

import math

import isogrid as ig
from isogrid import f32, f64, i32, i64, w32, w64


@ig.func
def remainder_f64(x: f64, y: f64) -> f64:
    """x - n y with n = rint(x / y), ties to even (IEEE 754): fmod by 2y, then at most two subtractions of y."""
    a, b = abs(x), abs(y)
    a = ig.select(b <= 8.988465674311579e307, math.fmod(a, ig.select(b <= 8.988465674311579e307, b + b, b)), a)
    small = b < 4.450147717014403e-308
    first = ig.select(small, a + a > b, a > 0.5 * b)
    a = ig.select(first, a - b, a)
    second = ig.select(small, a + a >= b, a >= 0.5 * b)
    a = ig.select(first & second, a - b, a)
    result = ig.select(a == 0.0, math.copysign(f64(0.0), x), ig.select(ig.signbit(x), -a, a))
    return ig.select((y == 0.0) | (abs(x) == math.inf) | (x != x) | (y != y), f64(math.nan), result)


@ig.func
def remainder_f32(x: f32, y: f32) -> f32:
    """The f64 remainder of two f32 is an f32."""
    return f32(remainder_f64(f64(x), f64(y)))


@ig.func
def nextafter_f32(x: f32, y: f32) -> f32:
    bits = ig.bitcast(w32, x)
    away = (y > x) == (x > 0.0)
    moved = ig.bitcast(f32, ig.select(away, bits + 1, bits - 1))
    least = math.copysign(ig.bitcast(f32, w32(1)), y)
    result = ig.select(x == y, y, ig.select(x == 0.0, least, moved))
    return ig.select((x != x) | (y != y), f32(math.nan), result)


@ig.func
def nextafter_f64(x: f64, y: f64) -> f64:
    bits = ig.bitcast(w64, x)
    away = (y > x) == (x > 0.0)
    moved = ig.bitcast(f64, ig.select(away, bits + 1, bits - 1))
    least = math.copysign(ig.bitcast(f64, w64(1)), y)
    result = ig.select(x == y, y, ig.select(x == 0.0, least, moved))
    return ig.select((x != x) | (y != y), f64(math.nan), result)


@ig.func
def parts(x: f64) -> tuple[f64, i32]:
    """m and e with x = m 2^e, 1/2 <= |m| < 1; x and 0 for a zero, an infinity, a NaN."""
    small = abs(x) < 2.2250738585072014e-308
    bits = ig.bitcast(w64, ig.select(small, x * 18014398509481984.0, x))
    biased = i32((bits >> 52) & 2047)
    m = ig.bitcast(f64, (bits & 0x800FFFFFFFFFFFFF) | 0x3FE0000000000000)
    ordinary = (x != 0.0) & (abs(x) < math.inf)
    e = ig.select(ordinary, biased - ig.select(small, i32(1076), i32(1022)), i32(0))
    return ig.select(ordinary, m, x), e


@ig.func
def frexp_mantissa_f64(x: f64) -> f64:
    m, _ = parts(x)
    return m


@ig.func
def frexp_mantissa_f32(x: f32) -> f32:
    m, _ = parts(f64(x))
    return f32(m)


@ig.func
def frexp_exponent_f64(x: f64) -> i32:
    _, e = parts(x)
    return e


@ig.func
def frexp_exponent_f32(x: f32) -> i32:
    _, e = parts(f64(x))
    return e


@ig.func
def power_of(e: i64) -> f64:
    """2^e for e in -1022..1023."""
    return ig.bitcast(f64, w64(e + 1023) << 52)


@ig.func
def ldexp_f64(x: f64, i: i64) -> f64:
    """x * 2^i, rounded once: the exponent in two parts, of which the first multiplication is exact."""
    m, e = parts(x)
    total = max(min(i, 5000), -5000) + i64(e)
    total = max(min(total, 2000), -2000)
    first = max(min(total, 1000), -1000)
    result = m * power_of(first) * power_of(total - first)
    return ig.select((x == 0.0) | (not (abs(x) < math.inf)), x, result)


@ig.func
def ldexp_f32(x: f32, i: i64) -> f32:
    return f32(f64(x) * power_of(max(min(i, 400), -400)))


@ig.func
def round_away_f64(x: f64) -> f64:
    """The nearest integral value, halves away from zero."""
    a = abs(x)
    whole = math.floor(a)
    return math.copysign(ig.select(a - whole >= 0.5, whole + 1.0, whole), x)


@ig.func
def round_away_f32(x: f32) -> f32:
    a = abs(x)
    whole = math.floor(a)
    return math.copysign(ig.select(a - whole >= 0.5, whole + f32(1.0), whole), x)
