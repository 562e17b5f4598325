"""Intervals of the tail builds with a table of centres, and the search for the centres.

    python -m tools.mathlib.centres atan        print the centres that the search finds

A centre is an f32 near the middle of its interval where the function and its derivative are nearer to f32 numbers than
chance would have it: what the tables leave out is then small beside the rounding errors (2^-34 of the function).
"""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

Function = Callable[[mpf], mpf]


@dataclass(frozen=True)
class Centred:
    """An odd function, its derivative, what is added to |x| before its upper bits count the interval, the centres.

    The centres stand in the order of the intervals' numbers, modulo 32; the first lies around 0. Beyond `last` the
    function is what it is there, rounded, or another build computes it. `tailed` tables hold what f32 leaves out of the
    slope too. Where the function is so near to 1 that no f32 centre about the middle has an f32 value, the centre is
    where 1 less the function is the nearest multiple of 2^-24.
    """

    function: Function
    slope: Function
    in_f64: Callable[[Any], Any]
    offset: float
    last: float
    centres: tuple[float, ...]
    tailed: bool = False


ATAN = Centred(
    mpmath.atan, lambda x: 1 / (1 + x * x), np.arctan, 0.75, 11.2,
    (
        1.3588663339614868, 1.6285878419876099, 1.869297981262207, 2.1428494453430176, 2.3819351196289062,
        2.6418962478637695, 2.8907651901245117, 3.1287848949432373, 3.463252544403076, 4.013454914093018,
        4.468337059020996, 5.029149532318115, 5.494688510894775, 5.998218059539795, 6.472421646118164,
        6.96478796005249, 7.726844787597656, 8.725573539733887, 9.76817798614502, 10.720438957214355, 0.0,
        0.09126894176006317, 0.15968309342861176, 0.22083742916584015, 0.31826022267341614, 0.43793725967407227,
        0.56503826379776, 0.690522313117981, 0.8154438138008118, 0.9391250014305115, 1.0549671649932861,
        1.1797873973846436,
    ),
)  # fmt: skip
ASINH = Centred(
    mpmath.asinh, lambda x: 1 / mpmath.sqrt(1 + x * x), np.arcsinh, 0.75, 11.2,
    (
        1.387887954711914, 1.6166237592697144, 1.8729697465896606, 2.109856367111206, 2.3862409591674805,
        2.627394914627075, 2.8837552070617676, 3.126382827758789, 3.4639060497283936, 4.035343170166016,
        4.499454975128174, 5.009494304656982, 5.496224880218506, 5.975191116333008, 6.518086910247803,
        6.985174179077148, 7.6756768226623535, 8.809337615966797, 9.728713035583496, 10.753846168518066, 0.0,
        0.09750426560640335, 0.15678441524505615, 0.2170066386461258, 0.3152696490287781, 0.4291013479232788,
        0.5640673637390137, 0.6942728757858276, 0.8186705112457275, 0.9442179203033447, 1.0681812763214111,
        1.1893640756607056,
    ),
)  # fmt: skip
ERF = Centred(
    mpmath.erf, lambda x: 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x), np.vectorize(math.erf), 0.28125, 4.0,
    (
        1.842347264289856, 2.093675374984741, 2.3442797660827637, 2.5937681198120117, 2.8433220386505127,
        3.095672369003296, 3.343355894088745, 3.599336862564087, 3.8325068950653076, 0.0,
        0.0468849278986454, 0.07804510742425919, 0.10942698270082474, 0.14073295891284943, 0.1719365417957306,
        0.202976256608963, 0.24964496493339539, 0.3125879466533661, 0.37504449486732483, 0.4375307857990265,
        0.49963706731796265, 0.5630524754524231, 0.6244918704032898, 0.6868448257446289, 0.781611442565918,
        0.9063350558280945, 1.0303477048873901, 1.1568981409072876, 1.2820571660995483, 1.4069180488586426,
        1.5317777395248413, 1.655157208442688,
    ),
    tailed=True,
)  # fmt: skip
BY_NAME = {"atan": ATAN, "asinh": ASINH, "erf": ERF}


def intervals(offset: float) -> Iterator[tuple[int, float, float]]:
    """Number, start and end of each interval of |x|."""
    first = int(np.float32(offset).view(np.uint32)) >> 20
    for step in range(32):
        start, end = (np.uint32((first + step + n) << 20).view(np.float32) for n in (0, 1))
        yield (first + step) & 31, float(start) - offset, float(end) - offset


def _search(of: Centred, start: float, end: float) -> float:
    """The best of some thousand centres around the middle of an interval."""
    middle, half = np.float32((start + end) / 2), (end - start) / 2
    if 1 - of.function(mpf(start)) < mpf(2) ** -20:
        return _with_short_value(of, start, end)
    count = min(int(0.15 * half / np.spacing(middle)), 12000)
    best, least = float(middle), mpf(1)
    for step in range(-count, count + 1):
        centre = float(middle + np.float32(step) * np.spacing(middle))
        left = _left_out(of, centre, half)
        if left < least:
            best, least = centre, left
    return best


def _with_short_value(of: Centred, start: float, end: float) -> float:
    """The place nearest to the middle of an interval where the function is 1 less a multiple of 2^-24."""

    def units(x: mpf) -> mpf:
        return (1 - of.function(x)) * 2**24

    found: list[float] = []
    with mpmath.workprec(100):
        for count in range(int(units(mpf(end))) + 1, int(units(mpf(start))) + 1):
            place = mpmath.findroot(lambda x, n=count: mpmath.log(units(x) / n), (start, end), solver="bisect")
            found.append(float(np.float32(float(place))))
    return min(found, key=lambda place: abs(place - (start + end) / 2))


def _left_out(of: Centred, centre: float, reach: float) -> mpf:
    """What f32 tables of value and slope leave out of the function next to the centre, relative to it."""
    value, slope = of.function(mpf(centre)), of.slope(mpf(centre))
    with mpmath.workprec(24):
        value_table, slope_table = +value, +slope
    return (abs(value - value_table) + (0 if of.tailed else abs(slope - slope_table)) * reach) / value


def main() -> None:
    for name in sys.argv[1:]:
        found = {n: _search(BY_NAME[name], a, b) if a else 0.0 for n, a, b in intervals(BY_NAME[name].offset)}
        print(name, [found[number] for number in range(32)])


if __name__ == "__main__":
    main()
