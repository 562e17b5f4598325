"""Tables of tanh by interval for its tail build, and the search for their centres.

    python -m tools.mathlib.tangents        print the centres that the search finds

What is counted is 2^124 (9/8 + SCALE a): eight intervals to each doubling, and from 2^128 on an infinity, whose upper
bits stand where 2^124 would: interval 24 is that of all large a. A centre is an f32 where value, slope and half the
second derivative are nearer to f32 numbers than chance would have it.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

from tools.mathlib.polynomials import single, through

SCALE = 1.6328125
COUNT = 32
#: The interval of large arguments, and that of small ones, whose centre is 0.
LARGE, SMALL = 24, 25
#: What is taken from the coefficient of d^3 around 0, relatively.
SMALL_EXCESS = 2.0**-22

CENTRES: tuple[float, ...] = (
    0.6034142374992371, 0.7652338743209839, 0.912671685218811, 1.0783863067626953, 1.2324247360229492,
    1.3749011754989624, 1.5403465032577515, 1.6867623329162598, 1.906640648841858, 2.237567186355591,
    2.5118072032928467, 2.842968225479126, 3.118903875350952, 3.4648656845092773, 3.7462427616119385,
    4.076373100280762, 4.529018878936768, 5.1302361488342285, 5.757269382476807, 6.376982688903809,
    6.963740348815918, 7.6246185302734375, 8.115033149719238, 8.664339065551758, 0.0,
    0.0, 0.11833825707435608, 0.18859243392944336, 0.2635001242160797, 0.3469727337360382,
    0.4263778030872345, 0.49209722876548767,
)  # fmt: skip


def intervals() -> Iterator[tuple[int, float, float]]:
    """Number, start and end of each interval but that of large arguments."""
    for number in range(COUNT):
        octave, eighth = divmod((number - LARGE) % COUNT, 8)
        if number != LARGE:
            start, end = (2.0**octave * (1 + (eighth + n) / 8) for n in (0, 1))
            yield number, (start - 1.125) / SCALE, (end - 1.125) / SCALE


def rest(centre: mpf) -> Callable[[mpf], mpf]:
    """(tanh(c + d) - value - slope d - curve d^2) / d^3."""
    value = mpmath.tanh(centre)
    slope = 1 - value**2

    def function(d: mpf) -> mpf:
        if abs(d) < mpf(2) ** -40:
            return slope * (value**2 - mpf(1) / 3)
        return (mpmath.tanh(centre + d) - value - slope * d + value * slope * d**2) / d**3

    return function


def table_row(start: float, end: float, at: float) -> list[float]:
    """Centre, value, slope and the coefficients of d^2 to d^6 in f32; around 0 that of d^3 is a little too large."""
    with mpmath.workprec(200):
        centre, reach = mpf(at), mpf(2) ** -22
        value = mpmath.tanh(centre)
        slope = 1 - value**2
        low, high = mpf(start) - centre - reach if start > 0 else mpf(0), mpf(end) - centre + reach
        middle, half = (low + high) / 2, (high - low) / 2
        points = [middle + half * mpf(part) for part in ("-0.975", "-0.75", "0.75", "0.975")]
        function = rest(centre)
        p = [single(c) for c in through(points, [function(d) for d in points])]
        if start <= 0:
            p[0] = single(p[0] * (1 - SMALL_EXCESS))
        return [at, single(value), single(slope), single(-value * slope), *p]


def errors(start: float, end: float, row: Sequence[float]) -> tuple[float, float]:
    """What the result may lack and, below 0, what it may be too large by, relatively: a little more than is seen.

    The f32 operations are done in f64.
    """

    def fma(a: Any, b: Any, c: Any) -> Any:
        return (a * b + c).astype(np.float32).astype(np.float64)

    centre, value, slope, curve, *p = row
    x = np.linspace(max(start, 2.0**-20), end, 100001).astype(np.float32).astype(np.float64)
    d = (x - centre).astype(np.float32).astype(np.float64)
    square = fma(d, d, 0.0)
    turned = fma(d, curve, slope)
    rest = fma(fma(fma(fma(d, p[3], p[2]), d, p[1]), d, p[0]), square, fma(d, curve, slope - turned))
    s = fma(turned, d, value)
    low = fma(rest, d, fma(turned, d, value - s))
    exact = np.tanh(x.astype(np.longdouble))
    lacking = (((exact - s.astype(np.longdouble)) - low) / exact).astype(np.float64)
    # The margin is added to the low part, with a rounding error of its own.
    slack = 0.1 * np.abs(lacking)
    more = np.abs(low) / x * 2.0**-24
    return rounded(float(np.max(lacking + slack))), rounded(float(np.min(lacking - slack - more)))


def searched(start: float, end: float) -> float:
    """The centre of an interval that leaves out least, as seen from its ends, of those whose results are too large."""
    middle, half = np.float32((start + end) / 2), (end - start) / 2
    # Next to 1 the function takes few values.
    part = 0.15 if start < 7 else 0.6
    count = int(part * half / float(np.spacing(middle)))
    centres = (int(middle.view(np.uint32)) + np.arange(-count, count + 1)).astype(np.uint32).view(np.float32)
    value = np.tanh(centres.astype(np.longdouble))
    slope = (1 - value) * (1 + value)
    left = sum(
        np.abs(column - column.astype(np.float32)) * weight
        for column, weight in ((slope, half), (value * slope, half**2))
    )
    more = value.astype(np.float32) - value
    above, below = errors(start, end, table_row(start, end, float(centres[int(np.argmin(left + np.abs(more)))])))
    least = 0.3 * (above - below) * np.abs(value)
    order = np.argsort(np.where(more > least, more + left, np.inf))[:400]
    for place in order:
        centre = float(centres[int(place)])
        if errors(start, end, table_row(start, end, centre))[0] <= 0:
            return centre
    raise SystemExit(f"no centre between {start} and {end}")


def rounded(x: float) -> float:
    """x to eight bits, away from 0: the same on every machine."""
    mantissa, exponent = math.frexp(x)
    return math.ldexp(math.copysign(math.ceil(abs(mantissa) * 256), x), exponent - 8)


def main() -> None:
    found = [0.0] * COUNT
    for number, start, end in intervals():
        found[number] = searched(start, end) if start > 0 else 0.0
    print(", ".join(map(repr, found)))


if __name__ == "__main__":
    main()
