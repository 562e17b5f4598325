"""Tables of tanh by interval for its tail build, and the search for their centres.

    python -m tools.mathlib.tangents        print the centres that the search finds

What is counted is 2^124 (9/8 + SCALE a): eight intervals to each doubling, and from 2^128 on an infinity, whose upper
bits stand where 2^124 would: interval 24 is that of all large a. A centre is an f32 where value, slope and half the
second derivative are nearer to f32 numbers than chance would have it; all coefficients are those of one polynomial.
"""

import math
from collections.abc import Iterator, Sequence
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
    0.5920733213424683, 0.7612919211387634, 0.9298774600028992, 1.0450770854949951, 1.2324247360229492,
    1.3942490816116333, 1.5209749937057495, 1.6749485731124878, 1.9149501323699951, 2.248166561126709,
    2.519868850708008, 2.835808515548706, 3.1405060291290283, 3.3919198513031006, 3.794898509979248,
    4.076373100280762, 4.497402191162109, 5.1319427490234375, 5.757269382476807, 6.376982688903809,
    6.963740348815918, 7.6246185302734375, 8.115033149719238, 8.664339065551758, 0.0,
    0.0, 0.11263629049062729, 0.18859243392944336, 0.2548377811908722, 0.3512266278266907,
    0.4263778030872345, 0.49733874201774597,
)  # fmt: skip


def intervals() -> Iterator[tuple[int, float, float]]:
    """Number, start and end of each interval but that of large arguments."""
    for number in range(COUNT):
        octave, eighth = divmod((number - LARGE) % COUNT, 8)
        if number != LARGE:
            start, end = (2.0**octave * (1 + (eighth + n) / 8) for n in (0, 1))
            yield number, (start - 1.125) / SCALE, (end - 1.125) / SCALE


def nearly_best(start: float, end: float) -> list[mpf]:
    """The polynomial of degree 6 through tanh at Chebyshev's nodes, in powers of the distance from the middle."""
    middle, half = (mpf(start) + mpf(end)) / 2, (mpf(end) - mpf(start)) / 2
    offsets = [half * mpmath.cos(mpmath.pi * (2 * k + 1) / 14) for k in range(7)]
    return through(offsets, [mpmath.tanh(middle + offset) for offset in offsets])


def shifted(p: Sequence[Any], by: Any) -> list[Any]:
    """The coefficients of p(by + d) in powers of d: of numbers or of whole arrays."""
    rows = list(p)
    for first in range(len(rows)):
        for place in range(len(rows) - 2, first - 1, -1):
            rows[place] = rows[place] + by * rows[place + 1]
    return rows


def table_row(start: float, end: float, at: float) -> list[float]:
    """Centre, value, slope and the coefficients of d^2 to d^6 in f32."""
    with mpmath.workprec(200):
        if start <= 0:
            return _small_row(mpf(end))
        p = shifted(nearly_best(start, end), mpf(at) - (mpf(start) + mpf(end)) / 2)
        return [at, *(single(c) for c in p)]


def _small_row(end: mpf) -> list[float]:
    """The row around 0: d is exact there, and the coefficient of d^3 a little too large."""

    def rest(d: mpf) -> mpf:
        return (mpmath.tanh(d) - d) / d**3

    points = [end * mpf(part) for part in ("0.0125", "0.125", "0.875", "0.9875")]
    p = [single(c) for c in through(points, [rest(d) for d in points])]
    return [0.0, 0.0, 1.0, 0.0, single(p[0] * (1 - SMALL_EXCESS)), *p[1:]]


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
    """The centre of an interval whose results are too large by least, but never too small."""
    middle, half = np.float32((start + end) / 2), (end - start) / 2
    # Next to 1 the function takes few values.
    part = 0.35 if start < 7 else 0.8
    count = int(part * half / float(np.spacing(middle)))
    centres = (int(middle.view(np.uint32)) + np.arange(-count, count + 1)).astype(np.uint32).view(np.float32)
    with mpmath.workprec(200):
        best = [np.longdouble(str(c)) for c in nearly_best(start, end)]
    at = centres.astype(np.longdouble)
    p = shifted(best, at - (np.longdouble(start) + np.longdouble(end)) / 2)
    left = [(c.astype(np.float32) - c).astype(np.float64) for c in p[:3]]
    least, most = np.full(at.size, np.inf), np.full(at.size, -np.inf)
    for step in range(9):
        d = start + (end - start) * step / 8 - centres.astype(np.float64)
        error = (left[0] + d * (left[1] + d * left[2])) / math.tanh(start + (end - start) * step / 8)
        least, most = np.minimum(least, error), np.maximum(most, error)
    found, margin = 0.0, math.inf
    for room in (2.0**-38, 2.0**-37, 2.0**-36, 2.0**-35, 2.0**-34):
        order = np.argsort(np.where(least > room, most, np.inf))[:40]
        for centre in (float(centres[int(place)]) for place in order):
            above, below = errors(start, end, table_row(start, end, centre))
            if above <= 0 and -below < margin:
                found, margin = centre, -below
    if not found:
        raise SystemExit(f"no centre between {start} and {end}")
    return found


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
