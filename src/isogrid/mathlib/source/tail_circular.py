"""Tail builds of sin, cos and tan in f32, for |x| <= 2^16: x = n pi/32 + r, sine and cosine of n pi/32 from tables.

sin x = S cos r + C sin r = (S + C rh) + S (cos r - 1) + C (sin r - rh), the sum in parentheses with its rounding error;
half a turn more changes the sign, so the tables have 32 entries.
"""

import isogrid as ig
from isogrid import f32, w32
from isogrid.mathlib.source.quick_circular import cos_f32_quick, sin_f32_quick, tan_f32_quick
from isogrid.mathlib.source.tail_constants import (
    CIRCLE_COS_HIGH,
    CIRCLE_COS_LOW,
    CIRCLE_COS_MARGINS,
    CIRCLE_SIN_HIGH,
    CIRCLE_SIN_LOW,
    CIRCLE_SIN_MARGINS,
    HALF_STEPS,
    STEP_A,
    STEP_B,
    STEP_C,
    STEPS,
    TAIL_COS,
    TAIL_SIN,
    TAIL_TAN,
    TANGENT_HIGH,
    TANGENT_LOW,
    TANGENT_SLACKS,
)
from isogrid.mathlib.source.tail_exponential import SHORT_SHIFTER

#: From here on the quick build reduces the argument.
LARGEST = 65536.0


@ig.func
def reduced_step(a: f32) -> tuple[w32, f32, f32]:
    """n, whose low six bits count, and r as a sum.

    `first` is exact, and a multiple of the last bit of n STEP_B: so `first - rh` is exact, even where they cancel.
    """
    shifted = ig.fma(a, STEPS, SHORT_SHIFTER)
    n = shifted - SHORT_SHIFTER
    first = ig.fma(-n, STEP_A, a)
    rh = first - n * STEP_B
    rl = ig.fma(-n, STEP_C, ig.fma(-n, STEP_B, first - rh))
    return ig.bitcast(w32, shifted), rh, rl


@ig.func
def rotated(sh: f32, sl: f32, ch: f32, cl: f32, rh: f32, rl: f32, margin: f32) -> tuple[f32, bool]:
    """The sine of an angle and r more, given the angle's sine and cosine, and whether it is settled.

    What is not exact is sh rh^2 / 2, a little of the sine beside it: `margin` times rh^2 bounds the error.
    """
    u = rh * rh
    cosine = ig.fma(u, ig.fma(TAIL_COS[0], u, TAIL_COS[1]), -(rh * rl))
    sine = ig.fma(rh * u, ig.fma(TAIL_SIN[0], u, TAIL_SIN[1]), rl)
    s = ig.fma(ch, rh, sh)
    rest = ig.fma(cl, rh, sl) + ig.fma(ch, rh, sh - s)
    low = ig.fma(sh, cosine, ig.fma(ch, sine, rest))
    above, below = s + ig.fma(u, margin, low), s + ig.fma(u, -margin, low)
    return above, above == below


@ig.func
def sin_f32(x: f32) -> f32:
    a = abs(x)
    n, rh, rl = reduced_step(a)
    j = int(n & 31)
    y, good = rotated(
        CIRCLE_SIN_HIGH[j], CIRCLE_SIN_LOW[j], CIRCLE_COS_HIGH[j], CIRCLE_COS_LOW[j], rh, rl, CIRCLE_SIN_MARGINS[j]
    )
    y = ig.bitcast(f32, ig.bitcast(w32, y) ^ (((n << 26) ^ ig.bitcast(w32, x)) & 0x80000000))
    if not (good & (a <= LARGEST)):
        y = sin_f32_quick(x)
    return y


@ig.func
def cos_f32(x: f32) -> f32:
    """The sine a quarter of a turn further on."""
    a = abs(x)
    n, rh, rl = reduced_step(a)
    j = int(n & 31)
    y, good = rotated(
        CIRCLE_COS_HIGH[j], CIRCLE_COS_LOW[j], -CIRCLE_SIN_HIGH[j], -CIRCLE_SIN_LOW[j], rh, rl, CIRCLE_COS_MARGINS[j]
    )
    y = ig.bitcast(f32, ig.bitcast(w32, y) ^ ((n << 26) & 0x80000000))
    if not (good & (a <= LARGEST)):
        y = cos_f32_quick(x)
    return y


@ig.func
def tan_f32(x: f32) -> f32:
    """x = n pi/64 + r: with T = tan(n pi/64) and t = tan r it is (T + t) / (1 - T t), or -1 over that in odd quarters.

    Numerator and denominator are sums; beside r only its cube is rounded.
    """
    a = abs(x)
    shifted = ig.fma(a, HALF_STEPS, SHORT_SHIFTER)
    n = shifted - SHORT_SHIFTER
    first = ig.fma(-n, 0.5 * STEP_A, a)
    rh = first - n * (0.5 * STEP_B)
    rl = ig.fma(-n, 0.5 * STEP_C, ig.fma(-n, 0.5 * STEP_B, first - rh))
    bits = ig.bitcast(w32, shifted)
    j = int(bits & 31)
    th, tl = TANGENT_HIGH[j], TANGENT_LOW[j]
    square = rh * rh
    rest = ig.fma(rh * square, ig.fma(TAIL_TAN[0], square, TAIL_TAN[1]), rl)
    t = rh + rest
    low = rest - (t - rh)
    sh = th + t
    sl = ((th - sh) + t) + (tl + low)
    # As 2 - T t first: below 1/2 the denominator would have bits that its distance from 1 has not.
    above = ig.fma(-th, t, 2.0)
    ph = above - 1.0
    pl = ig.fma(-tl, t, ig.fma(-th, low, ig.fma(-th, t, 2.0 - above)))
    odd = (bits & 32) != 0
    nh, nl = ig.select(odd, ph, sh), ig.select(odd, pl, sl)
    dh, dl = ig.select(odd, sh, ph), ig.select(odd, sl, pl)
    inverse = 1.0 / dh
    q = nh * inverse
    low = (ig.fma(-q, dh, nh) + ig.fma(-q, dl, nl)) * inverse
    slack = TANGENT_SLACKS[j]
    y, below = q + ig.fma(low, slack, low), q + ig.fma(low, -slack, low)
    good = (y == below) & (a <= LARGEST)
    y = ig.bitcast(f32, ig.bitcast(w32, y) ^ (((bits << 26) ^ ig.bitcast(w32, x)) & 0x80000000))
    if not good:
        y = tan_f32_quick(x)
    return y
