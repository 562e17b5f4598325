"""Tables of asin on 0..1/2 for the tail builds of asin and acos, and the search for their centres.

    python -m tools.mathlib.arcs        print the centres that the search finds

The intervals are those of rint(STEPS v); their centres are f32 where the derivative of asin is next to an f32 number.
"""

from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

#: What multiplies an argument to count its interval: 31.49 at 1/2.
STEPS = 62.98
COUNT = 32

CENTRES: tuple[float, ...] = (
    0.0, 0.016030149534344673, 0.032095566391944885, 0.04811517521739006, 0.06280989944934845,
    0.0800175815820694, 0.09465925395488739, 0.11180183291435242, 0.12649013102054596, 0.14243504405021667,
    0.15816935896873474, 0.17436009645462036, 0.19066591560840607, 0.20685666799545288, 0.2226441651582718,
    0.23833076655864716, 0.2539263665676117, 0.26975929737091064, 0.2855015993118286, 0.30151981115341187,
    0.31787410378456116, 0.3335731625556946, 0.3493368625640869, 0.3658200800418854, 0.38075315952301025,
    0.3976598381996155, 0.41357535123825073, 0.4288552701473236, 0.4438943564891815, 0.4606020748615265,
    0.4758441150188446, 0.4923650324344635,
)  # fmt: skip


def intervals() -> Iterator[tuple[int, float, float]]:
    """Number, start and end of each interval."""
    for number in range(COUNT):
        yield number, max(number - 0.5, 0.0) / STEPS, min((number + 0.5) / STEPS, 0.5)


def searched(start: float, end: float) -> float:
    """The centre of an interval whose slope f32 holds best."""
    middle = np.float32((start + end) / 2)
    count = min(int(0.05 * (end - start) / float(np.spacing(middle))), 1 << 17)
    centres = (int(middle.view(np.uint32)) + np.arange(-count, count + 1)).astype(np.uint32).view(np.float32)
    wide = centres.astype(np.longdouble)
    slope = 1 / np.sqrt((1 - wide) * (1 + wide))
    return float(centres[int(np.argmin(np.abs(slope - slope.astype(np.float32))))])


def rest(centre: mpf, value: mpf, slope: mpf) -> Any:
    """(asin(c + d) - value - slope d) / d^2."""

    def function(d: mpf) -> mpf:
        if abs(d) < mpf(2) ** -40:
            return centre / (2 * (1 - centre**2) ** mpf("1.5")) + d / 6
        return (mpmath.asin(centre + d) - value - slope * d) / d**2

    return function


def main() -> None:
    print(", ".join(repr(searched(start, end) if start else 0.0) for _, start, end in intervals()))


if __name__ == "__main__":
    main()
