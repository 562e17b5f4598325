"""Fourier-Motzkin elimination: have some inequalities between unknowns no solution?

i - 1 >= 0,  7 - j >= 0,  j - 8 i >= 0      no solution
"""

import functools
from collections.abc import Iterable, Sequence
from math import gcd
from typing import TypeAlias

#: One inequality over numbered unknowns: coefficients in the order of the numbers, and the constant; the sum is at
#: least 0.
Row: TypeAlias = tuple[tuple[tuple[int, int], ...], int]

_ROW_LIMIT = 160


@functools.lru_cache(maxsize=1 << 14)
def no_solution(rows: tuple[Row, ...]) -> bool:
    """Whether the inequalities have no solution, by removing one unknown after another.

    The answers are kept: the analyses of one kernel ask the same again and again.
    """
    current: Sequence[Row] = rows
    while current:
        unknown = _cheapest(current)
        positive: list[tuple[Row, int]] = []
        negative: list[tuple[Row, int]] = []
        rest: list[Row] = []
        for row in current:
            for number, coefficient in row[0]:
                if number == unknown:
                    (positive if coefficient > 0 else negative).append((row, coefficient))
                    break
            else:
                rest.append(row)
        if len(rest) + len(positive) * len(negative) > _ROW_LIMIT:
            return False
        for up, a in positive:
            for down, b in negative:
                combined = _combine(up, a, down, -b)
                if combined[0]:
                    rest.append(combined)
                elif combined[1] < 0:
                    return True
        current = tightest(rest)
    return False


def tightest(rows: Iterable[Row]) -> list[Row]:
    """Of inequalities with the same coefficients only the strongest, in a fixed order."""
    best: dict[tuple[tuple[int, int], ...], int] = {}
    for terms, constant in rows:
        known = best.get(terms)
        if known is None or constant < known:
            best[terms] = constant
    return sorted(best.items())


def _cheapest(rows: Sequence[Row]) -> int:
    """The unknown whose removal makes the fewest new inequalities."""
    positive: dict[int, int] = {}
    negative: dict[int, int] = {}
    for terms, _ in rows:
        for number, coefficient in terms:
            if coefficient > 0:
                positive[number] = positive.get(number, 0) + 1
            else:
                negative[number] = negative.get(number, 0) + 1
    best, least = -1, 0
    for number in sorted({**positive, **negative}):
        ups, downs = positive.get(number, 0), negative.get(number, 0)
        made = ups * downs - ups - downs
        if best < 0 or made < least:
            best, least = number, made
    return best


def _combine(up: Row, a: int, down: Row, b: int) -> Row:
    """The consequence of two inequalities in which the unknown with coefficients `a` and `-b` cancels."""
    terms = {number: coefficient * b for number, coefficient in up[0]}
    for number, coefficient in down[0]:
        terms[number] = terms.get(number, 0) + coefficient * a
    constant = up[1] * b + down[1] * a
    kept = sorted([term for term in terms.items() if term[1]])
    if not kept:
        return (), constant
    divisor = gcd(*[c for _, c in kept])
    if divisor == 1:
        return tuple(kept), constant
    return tuple([(n, c // divisor) for n, c in kept]), constant // divisor
