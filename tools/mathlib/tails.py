"""Constants of the tail builds: f32 tables and polynomials, written to source/tail_{constants,tables}.py.

    python -m tools.mathlib.tails           write the modules
    python -m tools.mathlib.tails --check   compare them with what would be written

The sweep over all inputs is the proof of each margin; the figures in the comments say why it can hold.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

from tools.mathlib import arcs, tangents
from tools.mathlib.centres import ASINH, ATAN, ERF, Centred, intervals
from tools.mathlib.polynomials import Function, fitted_exact, single, through, value_at
from tools.mathlib.written import SOURCE, head, write_or_check

PRECISION = 200
#: Of the low parts of a logarithm.
LOG_MARGIN = 1.75 * 2.0**-36
Floats = Sequence[float]


def bits_of(x: float) -> int:
    return int(np.float32(x).view(np.uint32))


class Module:
    """Lines of the module."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, comment: str) -> None:
        self.lines += ["", *(f"# {line}" for line in comment.splitlines())]

    def value(self, name: str, value: float) -> None:
        self.lines.append(f"{name} = {value!r}")

    def pair(self, stem: str, value: mpf) -> None:
        high = single(value)
        self.value(f"{stem}_HIGH", high)
        self.value(f"{stem}_LOW", single(value - mpf(high)))

    def floats(self, name: str, rows: Sequence[float]) -> None:
        lines = [", ".join(map(repr, rows[start : start + 4])) for start in range(0, len(rows), 4)]
        self.lines += [f"{name} = floats(", *(f"    {line}," for line in lines), ")"]

    def words(self, name: str, rows: Sequence[int]) -> None:
        self.lines += [f"{name} = words(", *(f"    0x{row & 0xFFFFFFFF:08X}," for row in rows), ")"]

    def polynomial(
        self,
        name: str,
        count: int,
        low: mpf,
        high: mpf,
        part: Callable[[mpf], mpf],
        error: Callable[[mpf, mpf], mpf],
    ) -> None:
        """`count` coefficients, highest first; `error(x, p(x))` is what the result is wrong by, relatively."""
        coefficients = [single(c) for c in fitted_exact(part, mpf(low), mpf(high), count)]
        worst = mpf(0)
        for n in range(1001):
            x = low + (high - low) * n / 1000
            worst = max(worst, abs(error(x, value_at(coefficients, x))))
        self.note(
            f"{name}: error 2^{float(mpmath.log(worst, 2)):.1f} on {float(low):.4g}..{float(high):.4g}; highest first."
        )
        self.floats(name, coefficients[::-1])


def exponentials(module: Module) -> None:
    step = mpmath.ln(2) / 16
    module.note("ln 2 / 16, and what multiplies x to count them.")
    module.pair("LN2_SIXTEENTH", step)
    module.value("EXP_SIXTEENTHS", single(1 / step))
    module.pair("LN2", mpmath.ln(2))
    module.pair("LN10", mpmath.ln(10))
    module.pair("LOG10_2_SIXTEENTH", mpmath.log10(2) / 16)
    module.value("LOG2_10_SIXTEENTHS", single(16 * mpmath.log(10, 2)))
    powers = [mpf(2) ** (mpf(j) / 16) for j in range(16)]
    module.note("2^(j/16) = p (1 + t): the bits of p less j << 19, and t.")
    module.words("POWER_BITS", [bits_of(single(p)) - (j << 19) for j, p in enumerate(powers)])
    module.floats("POWER_TAILS", [single(p / mpf(single(p)) - 1) for p in powers])
    inverses = [1 / p for p in powers]
    module.note("2^(j/16) / 2 = p (1 + t), t as above; 2^(-j/16) / 2 = o (1 + u), the bits of o and j << 19, and u.")
    module.words("HALF_POWER_BITS", [bits_of(single(p) / 2) - (j << 19) for j, p in enumerate(powers)])
    module.words("HALF_INVERSE_BITS", [bits_of(single(p) / 2) + (j << 19) for j, p in enumerate(inverses)])
    module.floats("INVERSE_TAILS", [single(p / mpf(single(p)) - 1) for p in inverses])
    half = step / 2 * mpf("1.001")

    def rest(r: mpf) -> mpf:
        return mpf(1) / 2 + r / 6 if abs(r) < mpf(2) ** -60 else (mpmath.expm1(r) - r) / r**2

    module.polynomial("TAIL_EXP", 3, -half, half, rest, lambda r, q: (1 + r + r * r * q) / mpmath.exp(r) - 1)
    module.value("EXP_MARGIN", 2.0**-34)
    module.value("EXPM1_MARGIN", 1.25 * 2.0**-23)

    def sine(z: mpf) -> mpf:
        return z / 120 + mpf(1) / 6 if z < mpf(2) ** -40 else (mpmath.sinh(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z

    def cosine(z: mpf) -> mpf:
        return z / 24 + mpf(1) / 2 if z < mpf(2) ** -40 else (mpmath.cosh(mpmath.sqrt(z)) - 1) / z

    module.polynomial("TAIL_SINH", 2, mpf(0), half**2, sine, lambda z, p: (p - sine(z)) * z)
    module.polynomial("TAIL_COSH", 2, mpf(0), half**2, cosine, lambda z, p: (p - cosine(z)) * z)
    module.value("SINH_MARGIN", 2.0**-22)
    module.value("COSH_MARGIN", 1.375 * 2.0**-23)


def on_grid(x: mpf) -> float:
    """x rounded to a multiple of 2^-17."""
    return float(mpmath.ldexp(mpmath.nint(mpmath.ldexp(x, 17)), -17))


def inverses() -> list[float]:
    """1/m in the middle of each interval of m; 1 and 1/2 in the outer two."""
    middles = [1 / (1 + (mpf(j) + mpf(1) / 2) / 32) for j in range(32)]
    return [1.0, *(single(c) for c in middles[1:31]), 0.5]


def logarithms(module: Module) -> None:
    module.floats("LOG_INVERSES", inverses())
    for base, stem in ((mpmath.e, "LOG"), (mpf(2), "LOG2"), (mpf(10), "LOG10")):
        module.note(f"-log c to base {float(base):.3g} as multiples of 2^-17, whose sums are exact, and the rest.")
        table = [-mpmath.log(mpf(c)) / mpmath.log(base) for c in inverses()]
        high = [on_grid(t) for t in table]
        module.floats(f"{stem}_TABLE_HIGH", high)
        rest = [t - mpf(h) for t, h in zip(table, high, strict=True)]
        module.floats(f"{stem}_TABLE_LOW", [single(r) for r in rest])
        if stem == "LOG":
            module.note("The rest and a margin.")
            module.floats("LOG_TABLE_ABOVE", [single(r + mpf(LOG_MARGIN)) for r in rest])
    for value, stem in ((mpmath.ln(2), "LN2"), (mpmath.log10(2), "LOG10_2")):
        module.value(f"SHORT_{stem}_HIGH", on_grid(value))
        module.value(f"SHORT_{stem}_LOW", single(value - mpf(on_grid(value))))
    module.pair("INVERSE_LN2", 1 / mpmath.ln(2))
    module.pair("INVERSE_LN10", 1 / mpmath.ln(10))

    def rest(z: mpf) -> mpf:
        return z / 3 - mpf(1) / 2 if abs(z) < mpf(2) ** -60 else (mpmath.log1p(z) - z) / z**2

    low, high_end = -mpf(1) / 63, mpf(1) / 32
    module.polynomial("TAIL_LOG", 4, low, high_end, rest, lambda z, q: z + z * z * q - mpmath.log1p(z))
    module.value("LOG_SQUARE_MARGIN", 1.25 * 2.0**-24)
    module.value("LOG_MARGIN", LOG_MARGIN)

    def odd(z: mpf) -> mpf:
        a = mpmath.sqrt(z)
        return mpf(2) / 3 + z * 2 / 5 if z < mpf(2) ** -40 else 2 * (mpmath.atanh(a) / a - 1) / z

    module.polynomial("TAIL_ATANH", 4, mpf(0), mpf(2) ** -8, odd, lambda z, p: (p - odd(z)) * z)
    module.value("ATANH_SQUARE_MARGIN", 1.75 * 2.0**-24)
    module.value("ATANH_MARGIN", 2.0**-36)
    module.value("ATANH_SERIES_MARGIN", 1.25 * 2.0**-22)


def circular(module: Module) -> None:
    step = mpmath.pi / 32
    module.note("pi/32 as a sum of three f32, and what multiplies x to count it.")
    rest = step
    for letter in "ABC":
        part = single(rest)
        module.value(f"STEP_{letter}", part)
        rest -= mpf(part)
    module.value("STEPS", single(1 / step))
    for name, function in (("SIN", mpmath.sin), ("COS", mpmath.cos)):
        values = [mpf(0) if (name, j) in (("SIN", 0), ("COS", 16)) else function(j * step) for j in range(32)]
        high = [single(v) for v in values]
        module.floats(f"CIRCLE_{name}_HIGH", high)
        module.floats(f"CIRCLE_{name}_LOW", [single(v - mpf(h)) for v, h in zip(values, high, strict=True)])
        module.floats(
            f"CIRCLE_{name}_MARGINS", [single((abs(v) + mpf("0.02")) * mpf(2) ** mpf("-23.0")) for v in values]
        )
    end = (step / 2 * mpf("1.07")) ** 2

    def sine(z: mpf) -> mpf:
        r = mpmath.sqrt(z)
        return z / 120 - mpf(1) / 6 if z < mpf(2) ** -40 else (mpmath.sin(r) / r - 1) / z

    def cosine(z: mpf) -> mpf:
        return z / 24 - mpf(1) / 2 if z < mpf(2) ** -40 else (mpmath.cos(mpmath.sqrt(z)) - 1) / z

    tangents = [mpmath.tan(j * step / 2) for j in range(32)]
    module.note("tan(j pi/64), and what multiplies x to count pi/64.")
    module.value("HALF_STEPS", single(2 / step))
    module.floats("TANGENT_HIGH", [single(t) for t in tangents])
    module.floats("TANGENT_LOW", [single(t - mpf(single(t))) for t in tangents])
    reach = float(step) / 4
    angles = [min(max(2 * j * reach - reach, reach), math.pi / 2 - 2 * j * reach - reach) for j in range(32)]
    slacks = [1.25 * 2.0**3 * reach**3 / 3 / math.sin(2 * max(angle, reach)) + 2.0**-13 for angle in angles]
    module.floats("TANGENT_SLACKS", [math.ceil(slack * 2**20) * 2.0**-20 for slack in slacks])

    def tangent(z: mpf) -> mpf:
        r = mpmath.sqrt(z)
        return mpf(1) / 3 + z * 2 / 15 if z < mpf(2) ** -40 else (mpmath.tan(r) / r - 1) / z

    module.polynomial("TAIL_TAN", 2, mpf(0), end / 4, tangent, lambda z, p: (p - tangent(z)) * z)
    module.polynomial("TAIL_SIN", 2, mpf(0), end, sine, lambda z, p: (p - sine(z)) * z)
    module.polynomial("TAIL_COS", 2, mpf(0), end, cosine, lambda z, p: (p - cosine(z)) * z)


def margin_of(
    of: Centred, start: float, end: float, centre: float, value: float, slope: float, tail: float, p: Floats
) -> float:
    """Half more than the largest relative error seen in an interval, the f32 operations done in f64."""

    def fma(a: Any, b: Any, c: Any) -> Any:
        return (a * b + c).astype(np.float32).astype(np.float64)

    x = np.linspace(max(start, 2.0**-40), min(end, of.last), 20001).astype(np.float32).astype(np.float64)
    d = (x - centre).astype(np.float32).astype(np.float64)
    s = fma(d, slope, value)
    square = fma(d, d, 0.0)
    q = fma(fma(d, p[4], p[3]), square, fma(d, p[2], p[1]))
    rest = fma(q, fma(square, d, 0.0), fma(p[0], fma(d, d, -square), fma(d, slope, value - s)))
    low = fma(p[0], square, rest)
    if of.tailed:
        low = fma(d, tail, low)
    exact = of.in_f64(x)
    mantissa, exponent = math.frexp(1.5 * float(np.max(np.abs((s - exact) + low) / exact)))
    return math.ldexp(math.ceil(mantissa * 64), exponent - 6)


def rounded_fit(function: Function, low: mpf, high: mpf) -> list[float]:
    """Five f32 coefficients, constant first, of a function that d^2 will multiply: points far from 0 count most.

    The second fit makes up for the rounding of the first coefficient.
    """
    middle, half = (low + high) / 2, (high - low) / 2
    points = [middle + half * mpf(part) for part in ("-0.975", "-0.75", "0", "0.75", "0.975")]
    first = single(through(points, [function(d) for d in points])[0])
    del points[2]
    rest = through(points, [(function(d) - mpf(first)) / d for d in points])
    return [first, *(single(c) for c in rest)]


def centred(module: Module, stem: str, of: Centred) -> None:
    """Tables by interval: centre, value, slope, the coefficients of (f(c + d) - value - slope d) / d^2, margin."""
    columns: list[list[float]] = [[0.0] * 32 for _ in range(10)]
    for number, start, end in intervals(of.offset):
        centre, reach = mpf(of.centres[number]), mpf(2) ** -22
        value, slope = of.function(centre), of.slope(centre)

        def rest(d: mpf, centre: mpf = centre, value: mpf = value, slope: mpf = slope) -> mpf:
            return (of.function(centre + d) - value - slope * d) / d**2

        low, high = mpf(start) - centre - reach, mpf(end) - centre + reach
        p = rounded_fit(rest, low if start else mpf(0), high)
        tail = single(slope - mpf(single(slope)))
        margin = margin_of(of, start, end, single(centre), single(value), single(slope), tail, p)
        row = (float(centre), single(value), single(slope), *p, margin, tail)
        for column, item in zip(columns, row, strict=True):
            column[number] = item
    names = ("CENTRES", "VALUES", "SLOPES", "2", "3", "4", "5", "6", "MARGINS", "SLOPE_TAILS")
    module.note(f"By interval of |x| + {of.offset}: centre, value, slope, coefficients from d^2 on, relative margin.")
    for name, column in zip(names[: None if of.tailed else -1], columns, strict=False):
        module.floats(f"{stem}_{name}", column)


def arc_tables(module: Module) -> None:
    """Tables of asin by interval: centre, value as a sum, slope, the coefficients of d^2 to d^5."""
    columns: list[list[float]] = [[] for _ in range(8)]
    for number, start, end in arcs.intervals():
        centre, reach = mpf(arcs.CENTRES[number]), mpf(2) ** -22
        value, slope = mpmath.asin(centre), 1 / mpmath.sqrt(1 - centre**2)
        low, high = (mpf(start) - centre - reach if start else mpf(0)), mpf(end) - centre + reach
        p = [single(c) for c in fitted_exact(arcs.rest(centre, value, slope), low, high, 4)]
        row = (float(centre), single(value), single(value - mpf(single(value))), single(slope), *p)
        for column, item in zip(columns, row, strict=True):
            column.append(item)
    module.note("By rint(ARC_STEPS v): centre, asin of it as a sum, slope, coefficients from d^2 on.")
    module.value("ARC_STEPS", single(mpf(arcs.STEPS)))
    names = ("CENTRES", "HIGH", "LOW", "SLOPES", "2", "3", "4", "5")
    for name, column in zip(names, columns, strict=True):
        module.floats(f"ARC_{name}", column)
    for name, value in (("PI", mpmath.pi), ("HALF_PI", mpmath.pi / 2)):
        module.pair(name, value)


def tangent_tables(module: Module) -> None:
    """Tables of tanh by interval: centre, value, slope, the coefficients of d^2 to d^6, margin."""
    columns: list[list[float]] = [[0.0] * tangents.COUNT for _ in range(9)]
    columns[1][tangents.LARGE] = 1.0
    for number, start, end in tangents.intervals():
        row = tangents.table_row(start, end, tangents.CENTRES[number])
        above, below = tangents.errors(start, end, row)
        if above > 0:
            raise SystemExit(f"tanh, interval {number}: too small by 2^{math.log2(above):.1f}")
        for column, item in zip(columns, [*row, below], strict=True):
            column[number] = item
    module.note("By interval of 2^124 (9/8 + TANH_SCALE |x|): centre, value, slope, coefficients, relative margin.")
    module.value("TANH_SCALE", tangents.SCALE)
    names = ("CENTRES", "VALUES", "SLOPES", "2", "3", "4", "5", "6", "BELOW")
    for name, column in zip(names, columns, strict=True):
        module.floats(f"TANH_{name}", column)


def written() -> dict[Path, str]:
    """The text of each module."""
    with mpmath.workprec(PRECISION):
        constants, tables = Module(), Module()
        exponentials(constants)
        logarithms(constants)
        circular(constants)
        arc_tables(tables)
        tangent_tables(tables)
        for stem, of in (("ATAN", ATAN), ("ASINH", ASINH), ("ERF", ERF)):
            centred(tables, stem, of)
    return {
        SOURCE / "tail_constants.py": head("Constants of the tail builds", "tails", "floats", "words")
        + _body(constants),
        SOURCE / "tail_tables.py": head("Tables by interval of the tail builds", "tails", "floats") + _body(tables),
    }


def _body(module: Module) -> str:
    return "\n".join(module.lines) + "\n"


def main() -> None:
    write_or_check(written())


if __name__ == "__main__":
    main()
