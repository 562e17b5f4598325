"""Constants of the tail builds: f32 tables and polynomials, written to source/tail_constants.py.

    python -m tools.mathlib.tails           write the module
    python -m tools.mathlib.tails --check   compare it with what would be written

The sweep over all inputs is the proof of each margin; the figures in the comments say why it can hold.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import mpmath
import numpy as np
from mpmath import mpf

from tools.mathlib.polynomials import fitted_exact, value_at

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "src" / "isogrid" / "mathlib" / "source" / "tail_constants.py"
PRECISION = 200


def single(x: mpf) -> float:
    """x rounded to f32."""
    with mpmath.workprec(24):
        return float(+x)


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
        self.lines += [f"{name} = _floats(", *(f"    {row!r}," for row in rows), ")"]

    def words(self, name: str, rows: Sequence[int]) -> None:
        self.lines += [f"{name} = _words(", *(f"    0x{row & 0xFFFFFFFF:08X}," for row in rows), ")"]

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
    half = step / 2 * mpf("1.001")

    def rest(r: mpf) -> mpf:
        return mpf(1) / 2 + r / 6 if abs(r) < mpf(2) ** -60 else (mpmath.expm1(r) - r) / r**2

    module.polynomial("TAIL_EXP", 3, -half, half, rest, lambda r, q: (1 + r + r * r * q) / mpmath.exp(r) - 1)
    module.value("EXP_MARGIN", 2.0**-34)


def on_grid(x: mpf, exponent: int) -> float:
    """x rounded to a multiple of 2^exponent."""
    return float(mpmath.ldexp(mpmath.nint(mpmath.ldexp(x, -exponent)), exponent))


def inverses() -> list[float]:
    """1/m in the middle of each interval of m; 1 and 1/2 in the outer two."""
    middles = [1 / (1 + (mpf(j) + mpf(1) / 2) / 32) for j in range(32)]
    return [1.0, *(single(c) for c in middles[1:31]), 0.5]


def logarithms(module: Module) -> None:
    ln2, grid = mpmath.ln(2), -17
    module.note("ln 2 and -log c as multiples of 2^-17, whose sums are exact, and the rest.")
    short = on_grid(ln2, grid)
    module.value("SHORT_LN2_HIGH", short)
    module.value("SHORT_LN2_LOW", single(ln2 - mpf(short)))
    table = [-mpmath.log(mpf(c)) for c in inverses()]
    high = [on_grid(t, grid) for t in table]
    module.floats("LOG_INVERSES", inverses())
    module.floats("LOG_TABLE_HIGH", high)
    module.floats("LOG_TABLE_LOW", [single(t - mpf(h)) for t, h in zip(table, high, strict=True)])

    def rest(z: mpf) -> mpf:
        return z / 3 - mpf(1) / 2 if abs(z) < mpf(2) ** -60 else (mpmath.log1p(z) - z) / z**2

    low, high_end = -mpf(1) / 63, mpf(1) / 32
    module.polynomial("TAIL_LOG", 4, low, high_end, rest, lambda z, q: z + z * z * q - mpmath.log1p(z))
    module.value("LOG_SQUARE_MARGIN", 1.25 * 2.0**-24)
    module.value("LOG_MARGIN", 1.75 * 2.0**-36)


def written() -> str:
    with mpmath.workprec(PRECISION):
        module = Module()
        exponentials(module)
        logarithms(module)
    return _HEAD + "\n".join(module.lines) + "\n"


_HEAD = '''"""Constants of the tail builds. Written by `python -m tools.mathlib.tails`; do not edit."""

from typing import Any

import numpy as np


def _floats(*rows: float) -> Any:
    """A table of f32."""
    table = np.array(rows, np.float32)
    table.flags.writeable = False
    return table


def _words(*rows: int) -> Any:
    """A table of u32."""
    table = np.array(rows, np.uint32)
    table.flags.writeable = False
    return table


# fmt: off
'''


def main() -> None:
    made = written()
    if "--check" in sys.argv[1:]:
        if TARGET.read_text() != made:
            raise SystemExit(f"{TARGET.relative_to(ROOT)} is out of date")
        return
    TARGET.write_text(made)


if __name__ == "__main__":
    main()
