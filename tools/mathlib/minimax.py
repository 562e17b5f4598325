"""Polynomials whose relative error is as small as may be, by Remez' exchange: half to a quarter of what Chebyshev's
points give where the function, or what the polynomial counts for in it, varies over the interval."""

from collections.abc import Callable

import mpmath
from mpmath import mpf

Function = Callable[[mpf], mpf]
#: Points of the interval that are looked at, exchanges, and how level the error's peaks are at the end.
_POINTS, _ROUNDS, _LEVEL = 600, 12, mpf("1.001")


def fitted_level(function: Function, weight: Function, low: mpf, high: mpf, count: int) -> list[float]:
    """`count` coefficients, constant first, with the least largest error times `weight`, rounded to f64."""
    points = [low + (high - low) * (1 - mpmath.cos(mpmath.pi * n / _POINTS)) / 2 for n in range(_POINTS + 1)]
    values, weights = [function(x) for x in points], [weight(x) for x in points]
    chosen = [round(_POINTS * (n + 0.5) / (count + 1)) for n in range(count + 1)]
    coefficients: list[mpf] = []
    for _ in range(_ROUNDS):
        coefficients, level = _through(points, values, weights, chosen)
        errors = [(_value(coefficients, x) - value) * by for x, value, by in zip(points, values, weights, strict=True)]
        peaks = _peaks(errors, count + 1)
        if len(peaks) <= count or max(map(abs, errors)) < level * _LEVEL:
            break
        chosen = peaks
    return [float(value) for value in coefficients]


def _through(points: list[mpf], values: list[mpf], weights: list[mpf], chosen: list[int]) -> tuple[list[mpf], mpf]:
    """The polynomial whose weighted errors at the chosen points are alike but for their signs, and that error."""
    count = len(chosen) - 1
    matrix, right = mpmath.matrix(count + 1, count + 1), mpmath.matrix(count + 1, 1)
    for row, place in enumerate(chosen):
        for power in range(count):
            matrix[row, power] = points[place] ** power
        matrix[row, count] = (-1) ** row / weights[place]
        right[row] = values[place]
    solution = mpmath.lu_solve(matrix, right)
    return [solution[n] for n in range(count)], abs(solution[count])


def _value(coefficients: list[mpf], x: mpf) -> mpf:
    value = mpf(0)
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


def _peaks(errors: list[mpf], most: int) -> list[int]:
    """Where each run of errors of one sign is the largest; of too many runs the smaller end goes."""
    found: list[int] = []
    for place, error in enumerate(errors):
        if found and (errors[found[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[found[-1]]):
                found[-1] = place
        else:
            found.append(place)
    while len(found) > most:
        found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
    return found
