"""Polynomials of the quick builds: near-minimax by Chebyshev interpolation, rounded to f64, and measured again."""

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
from mpmath import mpf

from tools.mathlib.minimax import fitted_level

Function = Callable[[mpf], mpf]
#: What the quick builds may be wrong by, as a binary exponent: the rounding test allows for 2^-39.
BOUND = -39.5
#: Builds for GPUs take erf(a) / a as a polynomial of 1 / (a^2 + the first) less the second.
GPU_ERF_SHIFT, GPU_ERF_MIDDLE = 18, 0.04277


def fitted(function: Function, low: mpf, high: mpf, count: int) -> list[float]:
    """`fitted_exact`, rounded to f64."""
    return [float(value) for value in fitted_exact(function, low, high, count)]


def fitted_exact(function: Function, low: mpf, high: mpf, count: int) -> list[mpf]:
    """`count` coefficients, constant first, of the polynomial through the function at Chebyshev's points."""
    points = [mpmath.cos(mpmath.pi * (2 * n + 1) / (2 * count)) for n in range(count)]
    points = [(low + high) / 2 + (high - low) / 2 * point for point in points]
    matrix = mpmath.matrix(count, count)
    right = mpmath.matrix(count, 1)
    for row, point in enumerate(points):
        right[row] = function(point)
        for column in range(count):
            matrix[row, column] = point**column
    return list(mpmath.lu_solve(matrix, right))


def measured(
    coefficients: list[float], whole: Function, built: Callable[[mpf, mpf], mpf], low: mpf, high: mpf
) -> float:
    """log2 of the largest relative error of `built(x, p(x))` against `whole(x)`, over 1,500 points."""
    worst = mpf(0)
    for n in range(1501):
        x = low + (high - low) * n / 1500
        value = value_at(coefficients, x)
        exact = whole(x)
        if exact != 0:
            worst = max(worst, abs(built(x, value) / exact - 1))
    return float(mpmath.log(worst, 2)) if worst else -999.0


def single(x: mpf) -> float:
    """x rounded to f32."""
    with mpmath.workprec(24):
        return float(+x)


def through(points: Sequence[mpf], values: Sequence[mpf]) -> list[mpf]:
    """The polynomial through these values, constant first."""
    matrix = mpmath.matrix([[point**power for power in range(len(points))] for point in points])
    return list(mpmath.lu_solve(matrix, mpmath.matrix(values)))


def value_at(coefficients: Sequence[float | mpf], x: mpf) -> mpf:
    """The polynomial at x, by Horner's rule; constant first."""
    value = mpf(0)
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


def quick_constants(module: Any) -> None:
    """Coefficients of the quick builds."""
    put = _putting(module)
    _exponentials(put)
    _logarithms(put)
    _circular(put)
    _inverse(put)
    _error(put)


def gpu_constants(module: Any) -> None:
    """Coefficients and tables of the builds for GPUs alone."""
    put = _putting(module)
    _for_gpus(put, module)
    _errors_for_gpus(put)


def _putting(module: Any) -> Callable[..., None]:
    """What fits, measures and writes the coefficients of one polynomial."""

    def put(
        name: str,
        count: int,
        low: Any,
        high: Any,
        part: Function,
        whole: Function,
        built: Callable[[mpf, mpf], mpf],
        given: list[float] | None = None,
    ) -> None:
        low, high = mpf(low), mpf(high)
        with mpmath.workprec(200):
            coefficients = fitted(part, low, high, count) if given is None else given
            error = measured(coefficients, whole, built, low, high)
        if error > BOUND:
            raise SystemExit(f"{name}: error 2^{error:.1f}, not below 2^{BOUND}")
        module.note(f"{name}: relative error 2^{error:.1f} on {float(low):.4g}..{float(high):.4g}; highest first.")
        module.value(f"{name}_FIRST", coefficients[-1])
        module.rows(f"{name}_REST", coefficients[-2::-1])

    return put


def _even(function: Function, limit: Function) -> Function:
    """A function of sqrt(z), with its value near zero given by the first two terms of a series."""
    return lambda z: limit(z) if z < mpf(2) ** -60 else function(mpmath.sqrt(z))


def _exponentials(put: Any) -> None:
    half = mpmath.ln(2) / 2 * mpf("1.0001")
    put("QUICK_EXP", 9, -half, half, mpmath.exp, mpmath.exp, lambda x, p: p)
    put("QUICK_EXP2", 9, "-0.5", "0.5", lambda x: mpf(2) ** x, lambda x: mpf(2) ** x, lambda x, p: p)
    tenth = mpmath.log10(2) / 2 * mpf("1.0001")
    put("QUICK_EXP10", 9, -tenth, tenth, lambda x: mpf(10) ** x, lambda x: mpf(10) ** x, lambda x, p: p)

    def over(x: mpf) -> mpf:
        return 1 + x / 2 if abs(x) < mpf(2) ** -60 else mpmath.expm1(x) / x

    put("QUICK_EXPM1", 9, -half, half, over, mpmath.expm1, lambda x, p: x * p)


def _logarithms(put: Any) -> None:
    low, high = mpf("-0.29290"), mpf("0.41422")

    def over(x: mpf) -> mpf:
        return (mpmath.log1p(x) - x) / x**2 if abs(x) > mpf(2) ** -50 else x / 3 - mpf(1) / 2

    put("QUICK_LOG", 14, low, high, over, mpmath.log1p, lambda x, p: x + x * x * p)
    put("LONG_LOG", 18, low, high, over, mpmath.log1p, lambda x, p: x + x * x * p)


def _circular(put: Any) -> None:
    half_pi = mpmath.pi / 2 * mpf("1.0001")
    put(
        "QUICK_SIN", 6, 0, half_pi**2,
        _even(lambda r: (mpmath.sin(r) / r - 1) / r**2, lambda z: z / 120 - mpf(1) / 6),
        lambda z: mpmath.sinc(mpmath.sqrt(z)), lambda z, p: 1 + z * p,
    )  # fmt: skip

    quarter = (mpmath.pi / 4 * mpf("1.0001")) ** 2
    put(
        "QUICK_SIN4", 5, 0, quarter,
        _even(lambda r: (mpmath.sin(r) / r - 1) / r**2, lambda z: z / 120 - mpf(1) / 6),
        lambda z: mpmath.sinc(mpmath.sqrt(z)), lambda z, p: 1 + z * p,
    )  # fmt: skip
    put(
        "QUICK_COS4", 5, 0, quarter,
        _even(lambda r: (mpmath.cos(r) - 1) / r**2, lambda z: z / 24 - mpf(1) / 2),
        lambda z: mpmath.cos(mpmath.sqrt(z)), lambda z, p: 1 + z * p,
    )  # fmt: skip


def _inverse(put: Any) -> None:
    put(
        "QUICK_ASIN", 9, 0, "0.25001",
        _even(lambda r: (mpmath.asin(r) / r - 1) / r**2, lambda z: z * 3 / 40 + mpf(1) / 6),
        _even(lambda r: mpmath.asin(r) / r, lambda z: 1 + z / 6), lambda z, p: 1 + z * p,
    )  # fmt: skip
    put(
        "QUICK_ATAN", 8, 0, "0.17165",
        _even(lambda r: (mpmath.atan(r) / r - 1) / r**2, lambda z: z / 5 - mpf(1) / 3),
        _even(lambda r: mpmath.atan(r) / r, lambda z: 1 - z / 3), lambda z, p: 1 + z * p,
    )  # fmt: skip


def _error(put: Any) -> None:
    put(
        "QUICK_ERF", 9, 0, 1,
        _even(lambda a: mpmath.erf(a) / a, lambda z: 2 / mpmath.sqrt(mpmath.pi) * (1 - z / 3)),
        _even(lambda a: mpmath.erf(a) / a, lambda z: 2 / mpmath.sqrt(mpmath.pi) * (1 - z / 3)), lambda z, p: p,
    )  # fmt: skip
    shift = mpf("3.5")

    def scaled(t: mpf) -> mpf:
        a = shift * (1 + t) / (1 - t)
        return mpmath.erfc(a) * mpmath.exp(a * a) * (a + shift)

    end = mpf("10.21")
    put("QUICK_ERFC", 16, -1, (end - shift) / (end + shift), scaled, scaled, lambda t, p: p)


def _for_gpus(put: Any, module: Any) -> None:
    """Short intervals behind tables and exact reductions."""
    edge = mpf("0.0443")

    def over(x: mpf) -> mpf:
        return (mpmath.log1p(x) - x) / x**2 if abs(x) > mpf(2) ** -50 else x / 3 - mpf(1) / 2

    wider = edge * mpf("1.005")
    coefficients = fitted(over, -wider, wider, 6)
    put("GPU_LOG", 6, -edge, edge, over, mpmath.log1p, lambda x, p: x + x * x * p, coefficients)
    module.note("-log(j / 16) for j of 11..23, which are what 16 / m is rounded to, behind the lower four bits of j.")
    logs = {j % 16: float(-mpmath.log(mpf(j) / 16)) if 11 <= j <= 23 else 0.0 for j in range(8, 24)}
    module.rows("GPU_LOG_TABLE", [logs[j] for j in range(16)])
    edge = mpf("0.00554")
    put("GPU_LOG1P", 4, -edge, edge, over, mpmath.log1p, lambda x, p: x + x * x * p)
    module.note("-log(j / 128) for j of 90..182, behind the lower seven bits of j; -0 for the logarithm of 1.")
    near = {j % 128: float(-mpmath.log(mpf(j) / 128)) for j in range(90, 183) if j != 128}
    module.rows("GPU_LOG1P_TABLE", [near.get(j, -0.0) for j in range(128)])
    put(
        "GPU_ATANH", 5, 0, "0.0405",
        _even(lambda r: (mpmath.atanh(r) / r - 1) / r**2, lambda z: z / 5 + mpf(1) / 3),
        _even(lambda r: mpmath.atanh(r) / r, lambda z: 1 + z / 3), lambda z, p: 1 + z * p,
    )  # fmt: skip
    half = (mpmath.ln(2) / 2 * mpf("1.0001")) ** 2
    put(
        "GPU_SINH", 4, 0, half,
        _even(lambda r: (mpmath.sinh(r) / r - 1) / r**2, lambda z: z / 120 + mpf(1) / 6),
        _even(lambda r: mpmath.sinh(r) / r, lambda z: 1 + z / 6), lambda z, p: 1 + z * p,
    )  # fmt: skip
    put(
        "GPU_COSH", 4, 0, half,
        _even(lambda r: (mpmath.cosh(r) - 1) / r**2, lambda z: z / 24 + mpf(1) / 2),
        lambda z: mpmath.cosh(mpmath.sqrt(z)), lambda z, p: 1 + z * p,
    )  # fmt: skip
    put(
        "GPU_TAN", 4, 0, (mpmath.pi / 32 * mpf("1.001")) ** 2,
        _even(lambda r: (mpmath.tan(r) / r - 1) / r**2, lambda z: z * 2 / 15 + mpf(1) / 3),
        _even(lambda r: mpmath.tan(r) / r, lambda z: 1 + z / 3), lambda z, p: 1 + z * p,
    )  # fmt: skip
    module.note("The sine and cosine of j pi / 16 for j of 0..15, one behind the other; the sine of 0 has a sign.")
    angles = [mpmath.pi * j / 16 for j in range(16)]
    parts = [part for angle in angles for part in (mpmath.sin(angle), mpmath.cos(angle))]
    turns = [float(part) if abs(part) > mpf(2) ** -100 else 0.0 for part in parts]
    module.rows("GPU_TURNS", [-0.0, *turns[1:]])
    half = mpmath.ln(2) / 2 * mpf("1.0001")
    coefficients = fitted_level(mpmath.exp, lambda x: mpmath.exp(-x), -half, half, 9)
    put("GPU_EXP", 9, -half, half, mpmath.exp, mpmath.exp, lambda x, p: p, coefficients)
    arc = _even(lambda r: (mpmath.asin(r) / r - 1) / r**2, lambda z: z * 3 / 40 + mpf(1) / 6)
    whole = _even(lambda r: mpmath.asin(r) / r, lambda z: 1 + z / 6)

    def counts(z: mpf) -> mpf:
        twice = 2 * mpmath.asin(mpmath.sqrt(z))
        return z / whole(z) * max(1, twice / (mpmath.pi / 2 - twice))

    coefficients = fitted_level(arc, counts, mpf(2) ** -30, mpf("0.25"), 8)
    put("GPU_ASIN", 8, 0, "0.25", arc, whole, lambda z, p: 1 + z * p, coefficients)
    put("LONG_ASIN", 13, 0, "0.25", arc, whole, lambda z, p: 1 + z * p)


def _errors_for_gpus(put: Any) -> None:
    """Of inverses that are at hand: with them far fewer terms do than of a^2."""
    shift, end, middle = mpf(GPU_ERF_SHIFT), mpf("3.9241"), mpf(GPU_ERF_MIDDLE)

    def error(u: mpf) -> mpf:
        a = mpmath.sqrt(max(1 / (u + middle) - shift, mpf(0)))
        return mpmath.erf(a) / a if a > mpf(2) ** -30 else 2 / mpmath.sqrt(mpmath.pi) * (1 - a * a / 3)

    # The slope at 0 is exact, so that subnormals need no test of their own: the first point is there.
    low, high = 1 / (end**2 + shift) - middle, 1 / shift - middle
    wider = (high - low) / 2 / mpmath.cos(mpmath.pi / 32) - (high - low) / 2
    coefficients = fitted(error, low - wider, high + wider, 16)
    coefficients[0] += float(error(high) - value_at(coefficients, high))
    put("GPU_ERF", 16, low, high, error, error, lambda u, p: p, coefficients)
    shift, end = mpf("3.5"), mpf("10.21")

    def rest(v: mpf) -> mpf:
        a = 1 / v - shift
        return mpmath.erfc(a) * mpmath.exp(a * a) / v

    put("GPU_ERFC", 16, 1 / (end + shift), 1 / shift, rest, rest, lambda v, p: p)
