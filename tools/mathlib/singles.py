"""Constants of the builds in f32 alone, for devices without f64: written to source/single_constants.py.

    python -m tools.mathlib.singles           write the module
    python -m tools.mathlib.singles --check   compare it with what would be written, and check the bounds

Series are Taylor's: the coefficient is a formula, the bound is the first term left out, relative to the result. What a
sum of three f32 cannot hold of a constant is below 2^-70 of it.
"""

from collections.abc import Callable, Sequence

import mpmath
from mpmath import mpf

from tools.mathlib.coefficients import check, truncated
from tools.mathlib.polynomials import single
from tools.mathlib.tails import PRECISION, Module
from tools.mathlib.written import SOURCE, head, write_or_check

TARGET = SOURCE / "single_constants.py"
#: What a series may leave out, as a binary exponent.
LEFT_OUT = -62
PARTS = ("HIGH", "MIDDLE", "LOW")


def triple(x: mpf) -> tuple[float, float, float]:
    """x as the sum of three f32, the last one rounded."""
    high = single(x)
    middle = single(x - mpf(high))
    return high, middle, single(x - mpf(high) - mpf(middle))


def put_triple(module: Module, stem: str, x: mpf) -> None:
    for part, value in zip(PARTS, triple(x), strict=True):
        module.value(f"{stem}_{part}", value)


def put_triples(module: Module, stem: str, rows: Sequence[mpf]) -> None:
    """Three tables, one for each part."""
    parts = [triple(x) for x in rows]
    for number, part in enumerate(PARTS):
        module.floats(f"{stem}_{part}", [row[number] for row in parts])


def put_pair(module: Module, stem: str, x: mpf) -> None:
    for part, value in zip(PARTS[::2], triple(x), strict=False):
        module.value(f"{stem}_{part}", value)


def put_series(module: Module, stem: str, term: Callable[[int], mpf], pairs: range, singles: range) -> None:
    """Coefficients from the highest down: `stem_TAIL` in single, `stem_PAIRS` as pairs, side by side."""
    module.floats(f"{stem}_TAIL", [single(term(n)) for n in reversed(singles)])
    for number, part in enumerate(("HIGH", "LOW")):
        module.floats(f"{stem}_PAIRS_{part}", [triple(term(n))[number] for n in reversed(pairs)])


def exponentials(module: Module) -> None:
    step = mpmath.ln(2) / 64
    module.note("ln 2 and its 64th part as sums of three f32, and what multiplies x to count the parts.")
    put_triple(module, "LN2", mpmath.ln(2))
    put_triple(module, "LN2_64TH", step)
    module.value("EXP_64THS", single(1 / step))
    module.note("2^(j/64).")
    put_triples(module, "POWERS", [mpf(2) ** (mpf(j) / 64) for j in range(64)])
    most = step / 2 * mpf("1.001")
    module.note("e^r = 1 + r + r^2/2 + r^3 q(r): the coefficients of q, highest first.")
    put_series(module, "EXP", lambda n: 1 / mpmath.factorial(n + 3), range(1), range(1, 4))
    check("exp", most**7 / mpmath.factorial(7), LEFT_OUT)


def logarithms(module: Module) -> None:
    module.note("1/m to 8 bits in the middle of each interval of the upper 7 bits of m's fraction, 1 at both ends.")
    module.floats("INVERSES", inverses())
    put_triples(module, "LOG_OF_INVERSES", [-mpmath.ln(mpf(c)) for c in inverses()])
    put_triples(module, "LOG2_OF_INVERSES", [-mpmath.log(mpf(c), 2) for c in inverses()])
    put_triple(module, "INVERSE_LN2", 1 / mpmath.ln(2))
    module.note("ln 2 as a sum whose products with exponents are exact but for the last.")
    rest = mpmath.ln(2)
    for letter in "ABC":
        part = truncated(rest, 16)
        module.value(f"LN2_{letter}", part)
        rest -= mpf(part)
    module.value("LN2_D", single(rest))
    module.note("log(1 + r) = r - r^2/2 + r^3 q(r): the coefficients of q, highest first.")
    put_series(module, "LOG", lambda n: mpf((-1) ** n) / (n + 3), range(3), range(3, 7))
    # Next to x = 1 the result is about r, elsewhere it is larger.
    check("log", worst_remainder() ** 9 / 10, LEFT_OUT)


def inverses() -> list[float]:
    """For m in [1, 2): 1/m, doubled where m stands for the m/2 just below 1."""
    found: list[float] = []
    for j in range(128):
        m = 1 + (mpf(j) + mpf(1) / 2) / 128
        scale = 2 if j >= FIRST_BELOW_ONE else 1
        found.append(1.0 if j in (0, 127) else float(mpmath.nint(scale / m * 128) / 128))
    return found


#: Intervals from this one on stand for m/2, below 1: m = 1.4140625.
FIRST_BELOW_ONE = 53


def worst_remainder() -> mpf:
    """The largest |m c - 1|."""
    worst = mpf(0)
    for j, c in enumerate(inverses()):
        for end in (j, j + 1):
            m = 1 + mpf(end) / 128
            worst = max(worst, abs((m / 2 if j >= FIRST_BELOW_ONE else m) * mpf(c) - 1))
    return worst


def circular(module: Module) -> None:
    module.note("sin(j pi/64), and pi/2.")
    put_triples(module, "SINES", [_sine(j) for j in range(128)])
    put_triple(module, "HALF_PI", mpmath.pi / 2)
    most = mpmath.pi / 128 * mpf("1.001")
    module.note("sin r = r + r^3 s(r^2), cos r = 1 + r^2 c(r^2): the coefficients of s and c, highest first.")
    put_series(module, "SIN", lambda n: mpf((-1) ** (n + 1)) / mpmath.factorial(2 * n + 3), range(2), range(2, 4))
    check("sin", most**10 / mpmath.factorial(11), LEFT_OUT)
    put_series(module, "COS", lambda n: mpf((-1) ** (n + 1)) / mpmath.factorial(2 * n + 2), range(2), range(2, 4))
    check("cos", most**10 / mpmath.factorial(10), LEFT_OUT)
    module.note("2/pi in words, behind 32 zeros; the last three are never needed, but their numbers can be written.")
    bits = int(mpmath.floor(mpmath.ldexp(2 / mpmath.pi, 256)))
    module.words("TWO_OVER_PI", [0, *(bits >> (224 - 32 * n) & 0xFFFFFFFF for n in range(8)), 0, 0, 0])


def _sine(j: int) -> mpf:
    """Exact where it is 0 or 1, and of one magnitude in all quarters."""
    quarter, place = divmod(j, 32)
    place = 32 - place if quarter % 2 else place
    value = mpf(place) / 32 if place in (0, 32) else mpmath.sin(place * mpmath.pi / 64)
    return -value if quarter >= 2 else value


def written() -> str:
    with mpmath.workprec(2 * PRECISION):
        module = Module()
        exponentials(module)
        logarithms(module)
        circular(module)
    title = "Constants of the builds in f32 alone"
    return head(title, "singles", "floats", "words") + "\n".join(module.lines) + "\n"


def main() -> None:
    write_or_check({TARGET: written()})


if __name__ == "__main__":
    main()
