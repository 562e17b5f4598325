"""Compute the coefficients of the elementary functions with mpmath, check their error bounds, write the modules.

    python -m tools.mathlib.coefficients           write source/constants.py and gpu_constants.py
    python -m tools.mathlib.coefficients --check   compare them with what would be written, and check the bounds

Series of the pair build are Taylor's: the coefficient is a formula, the bound is the first term left out.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import mpmath
from mpmath import mpf

from tools.mathlib.polynomials import fitted_exact, gpu_constants, quick_constants, value_at
from tools.mathlib.written import SOURCE, head, write_or_check

TARGET, GPU_TARGET = SOURCE / "constants.py", SOURCE / "gpu_constants.py"
PRECISION = 400


def nearest(x: mpf, bits: int = 53) -> float:
    """x rounded to `bits` bits."""
    with mpmath.workprec(bits):
        return float(+x)


def truncated(x: mpf, bits: int) -> float:
    """The first `bits` bits of x, rounded towards zero."""
    mantissa, exponent = mpmath.frexp(x)
    return float(mpmath.ldexp(mpmath.floor(mpmath.ldexp(mantissa, bits)), exponent - bits))


def parts(x: mpf, *widths: int) -> list[float]:
    """x as a sum of f64 whose leading ones have few bits; the last is rounded."""
    found: list[float] = []
    for width in widths[:-1]:
        found.append(truncated(x, width))
        x -= mpf(found[-1])
    return [*found, nearest(x, widths[-1])]


def pair(x: mpf) -> tuple[float, float]:
    high = nearest(x)
    return high, nearest(x - mpf(high))


def text(value: float | int | tuple[float, ...]) -> str:
    match value:
        case int():
            return f"0x{value:016X}"
        case float():
            return repr(value)
        case _:
            return "(" + ", ".join(text(item) for item in value) + ("," if len(value) == 1 else "") + ")"


class Module:
    """Lines of the module of constants."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, comment: str) -> None:
        self.lines += ["", *(f"# {line}" for line in comment.splitlines())]

    def value(self, name: str, value: float | tuple[float, ...]) -> None:
        self.lines.append(f"{name} = {text(value)}")

    def pair(self, stem: str, value: mpf) -> None:
        high, low = pair(value)
        self.value(f"{stem}_HIGH", high)
        self.value(f"{stem}_LOW", low)

    def rows(self, name: str, rows: Sequence[float | int | tuple[float, ...]]) -> None:
        items = [text(row) for row in rows]
        each = 1 if items[0].startswith("(") else 3
        lines = [", ".join(items[start : start + each]) for start in range(0, len(items), each)]
        kind = "long_words" if isinstance(rows[0], int) else "doubles"
        self.lines += [f"{name} = {kind}(", *(f"    {line}," for line in lines), ")"]


def series(module: Module, stem: str, term: Callable[[int], mpf], pairs: range, tail: range) -> None:
    """Coefficients from the highest down: `stem_FIRST` and `stem_TAIL` in f64, then `stem_PAIRS`."""
    module.value(f"{stem}_FIRST", nearest(term(tail[-1])))
    module.rows(f"{stem}_TAIL", [nearest(term(n)) for n in reversed(tail[:-1])])
    module.rows(f"{stem}_PAIRS", [pair(term(n)) for n in reversed(pairs)])


def check(what: str, error: mpf, bound: int) -> None:
    """Complain where `error` is not below 2^bound."""
    if abs(error) >= mpmath.ldexp(1, bound):
        raise SystemExit(f"{what}: error 2^{float(mpmath.log(abs(error), 2)):.1f}, not below 2^{bound}")


def exponentials(module: Module) -> None:
    ln2 = mpmath.ln(2)
    module.note("ln 2 as 40 bits, 40 bits and the rest: a product with an integer below 2^13 is exact.")
    for name, value in zip(("LN2_A", "LN2_B", "LN2_C"), parts(ln2, 40, 40, 53), strict=True):
        module.value(name, value)
    module.pair("LN2", ln2)
    module.pair("LN10", mpmath.ln(10))
    module.value("LOG2_E", nearest(1 / ln2))
    module.value("LOG2_10", nearest(mpmath.log(10, 2)))
    module.value("LOG10_2", nearest(mpmath.log10(2)))
    module.note("1/n!: from 18 down to 8 in f64, from 7 down to 1 as pairs; |r| <= 0.3466. Left out: 2^-83 of e^r - 1.")
    series(module, "EXP", lambda n: 1 / mpmath.factorial(n), range(1, 8), range(8, 19))
    check("exp", mpf("0.3467") ** 18 / mpmath.factorial(19), -82)


def logarithms(module: Module) -> None:
    module.pair("INVERSE_LN2", 1 / mpmath.ln(2))
    module.pair("INVERSE_LN10", 1 / mpmath.ln(10))
    for name, value in zip("ABC", parts(mpmath.log10(2), 40, 40, 53), strict=True):
        module.value(f"LOG10_2_{name}", value)
    module.note("1/(2n+1): from 16 down to 5 in f64, from 4 down to 0 as pairs; z = s^2 <= 0.02945. Left out: 2^-90.")
    series(module, "LOG", lambda n: mpf(1) / (2 * n + 1), range(5), range(5, 17))
    check("log", mpf("0.02945") ** 17 / 35, -90)


def circular(module: Module) -> None:
    half_pi = mpmath.pi / 2
    module.value("TWO_OVER_PI", nearest(1 / half_pi))
    module.value("ONE_OVER_PI", nearest(1 / mpmath.pi))
    module.note("pi/2 as 33, 33, 33 and 53 bits.")
    for name, value in zip("ABCD", parts(half_pi, 33, 33, 33, 53), strict=True):
        module.value(f"HALF_PI_{name}", value)
    module.pair("HALF_PI", half_pi)
    module.pair("PI", mpmath.pi)
    module.pair("QUARTER_PI", mpmath.pi / 4)
    module.note(
        "(-1)^n/(2n+1)!: from 13 down to 5 in f64, from 4 down to 0 as pairs; z = r^2 <= 0.6169. Left out: 2^-107."
    )
    series(module, "SIN", lambda n: (-1) ** n / mpmath.factorial(2 * n + 1), range(5), range(5, 14))
    check("sin", mpf("0.617") ** 14 / mpmath.factorial(29), -106)
    module.note("(-1)^n/(2n)!: from 14 down to 6 in f64, from 5 down to 0 as pairs.")
    series(module, "COS", lambda n: (-1) ** n / mpmath.factorial(2 * n), range(6), range(6, 15))
    check("cos", mpf("0.617") ** 15 / mpmath.factorial(30), -106)
    module.note("The bits of 2/pi behind 64 zeros, in words of 64.")
    with mpmath.workprec(64 * 40):
        bits = int(mpmath.floor(mpmath.ldexp(2 / mpmath.pi, 64 * 35)))
    words = [(bits >> (64 * (35 - n))) & (2**64 - 1) for n in range(36)]
    module.rows("TWO_OVER_PI_WORDS", words)


def inverse(module: Module) -> None:
    module.note("(-1)^n/(2n+1): from 10 down to 3 in f64, from 2 down to 0 as pairs; |u| <= 1/15. Left out: 2^-90.")
    series(module, "ATAN", lambda n: mpf((-1) ** n) / (2 * n + 1), range(3), range(3, 11))
    check("atan", mpf(1) / mpf(15) ** 22 / 23, -90)
    module.note("atan(j / 8) for j of 0..8.")
    module.rows("ATAN_EIGHTHS_HIGH", [pair(mpmath.atan(mpf(j) / 8))[0] for j in range(9)] + [0.0] * 7)
    module.rows("ATAN_EIGHTHS_LOW", [pair(mpmath.atan(mpf(j) / 8))[1] for j in range(9)] + [0.0] * 7)


def error_functions(module: Module) -> None:
    module.note("2/sqrt(pi) (-1)^n/(n!(2n+1)): from 22 down to 7 in f64, from 6 down to 0 as pairs; z = x^2 <= 0.7225.")
    slope = 2 / mpmath.sqrt(mpmath.pi)
    series(module, "ERF", lambda n: slope * (-1) ** n / (mpmath.factorial(n) * (2 * n + 1)), range(7), range(7, 23))
    check("erf", mpf("0.7225") ** 23 / mpmath.factorial(23) / 47, -80)
    low, high = (mpf("0.84") - 4) / (mpf("0.84") + 4), (mpf("27.31") - 4) / (mpf("27.31") + 4)

    def part(t: mpf) -> mpf:
        x = 4 * (1 + t) / (1 - t)
        return mpmath.exp(x * x) * mpmath.erfc(x) * (x + 4)

    coefficients = fitted_exact(part, low, high, 29)
    error = max(
        abs(value_at(coefficients, t) / part(t) - 1) for t in (low + (high - low) * n / 300 for n in range(301))
    )
    check("erfc", error, -78)
    module.note("e^(x^2) erfc(x) (x + 4) in t = (x - 4)/(x + 4), 0.84 <= x <= 27.31: relative error below 2^-78.")
    series(module, "ERFC", lambda n: coefficients[n], range(14), range(14, 29))


def gammas(module: Module) -> None:
    module.pair("HALF_LOG_TWO_PI", mpmath.log(2 * mpmath.pi) / 2)
    module.pair("LOG_PI", mpmath.log(mpmath.pi))
    module.pair("TWELFTH", mpf(1) / 12)
    module.note("B(2k) / (2k (2k - 1)), k from 13 down to 2, in 1/X^2; X >= 16. Left out: 2^-87.")

    def bernoulli(k: int) -> mpf:
        return mpmath.bernoulli(2 * k) / (2 * k * (2 * k - 1))

    module.value("STIRLING_FIRST", nearest(bernoulli(13)))
    module.rows("STIRLING_TAIL", [nearest(bernoulli(k)) for k in range(12, 1, -1)])
    check("stirling", bernoulli(14) / mpf(16) ** 27, -86)

    def one(n: int) -> mpf:
        return -mpmath.euler if n == 0 else (-1) ** (n + 1) * mpmath.zeta(n + 1) / (n + 1)

    def two(n: int) -> mpf:
        return 1 - mpmath.euler if n == 0 else (-1) ** (n + 1) * (mpmath.zeta(n + 1) - 1) / (n + 1)

    module.note("log Gamma(1 + e) / e and log Gamma(2 + e) / e, |e| <= 2^-6: e^13 down to e^4 in f64, then pairs.")
    series(module, "GAMMA_ONE", one, range(4), range(4, 14))
    series(module, "GAMMA_TWO", two, range(4), range(4, 14))
    check("gamma", mpf(2) ** -84 / 14, -84)


def gamma_zeros(module: Module) -> None:
    """The zeros of log |Gamma| in (-3, -2), (-4, -3), ..., (-17, -16), two in each, and its series there."""
    zeros: list[mpf] = []
    for m in range(2, 17):
        for pole, side in ((m + 1, 1), (m, -1)):
            x = -pole + mpf(side) / mpmath.factorial(pole)
            for _ in range(60):
                moved = mpmath.log(abs(mpmath.gamma(x))) / mpmath.psi(0, x)
                x -= moved
                if abs(moved) < mpmath.ldexp(abs(x), -PRECISION // 2):
                    break
            zeros.append(x)
        if not -m - 1 < zeros[-2] < zeros[-1] < -m:
            raise SystemExit("gamma_zeros: a zero outside its interval")
    padding = [0.0, 0.0]
    module.note("Zeros of log |Gamma| below -2; psi and its derivatives there over 1, 2, 6, 24; the value at the pair.")
    module.rows("GAMMA_ZERO_HIGH", [pair(x)[0] for x in zeros] + padding)
    module.rows("GAMMA_ZERO_LOW", [pair(x)[1] for x in zeros] + padding)
    module.rows("GAMMA_SLOPE_HIGH", [pair(mpmath.psi(0, x))[0] for x in zeros] + padding)
    module.rows("GAMMA_SLOPE_LOW", [pair(mpmath.psi(0, x))[1] for x in zeros] + padding)
    module.rows("GAMMA_CURVE", [nearest(mpmath.psi(1, x) / 2) for x in zeros] + padding)
    rests = [(mpf(high) + mpf(low) - x) * mpmath.psi(0, x) for x, (high, low) in ((x, pair(x)) for x in zeros)]
    module.rows("GAMMA_ZERO_VALUE", [nearest(value) for value in rests] + padding)
    module.rows("GAMMA_FOURTH", [nearest(mpmath.psi(3, x) / 24) for x in zeros] + padding)
    module.rows("GAMMA_THIRD", [nearest(mpmath.psi(2, x) / 6) for x in zeros] + padding)


def written() -> dict[Path, str]:
    """The texts of the modules of constants."""
    with mpmath.workprec(PRECISION):
        module = Module()
        exponentials(module)
        logarithms(module)
        circular(module)
        inverse(module)
        error_functions(module)
        gammas(module)
        gamma_zeros(module)
        module.pair("THIRD", mpf(1) / 3)
        quick_constants(module)
        for_gpus = Module()
        gpu_constants(for_gpus)
    title = "Constants of the elementary functions"
    first = head(title, "coefficients", "doubles", "long_words") + "\n".join(module.lines) + "\n"
    second = head(f"{title} for GPUs", "coefficients", "doubles") + "\n".join(for_gpus.lines) + "\n"
    return {TARGET: first, GPU_TARGET: second}


def main() -> None:
    write_or_check(written())


if __name__ == "__main__":
    main()
