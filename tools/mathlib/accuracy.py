"""The error of the f64 functions, and of the f32 functions of two arguments, against MPFR on random inputs.

    python -m tools.mathlib.accuracy --count 100000 exp pow      worst error in ulp of each; by default all functions

`wide_accuracy` does the same for 10^8 inputs of f64 in two stages. Inputs are spread over the exponents that matter for
a function, with a share near 1, near zero and at whole numbers.
"""

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import gmpy2
import numpy as np
from gmpy2 import mpfr

from isogrid.builtins.elementary import ELEMENTARY
from isogrid.ir.types import Scalar
from tools.mathlib.reference import FUNCTIONS, nearest_f32

Array = np.ndarray[Any, Any]
Reference = Callable[..., Any]
PRECISION = 240

#: Exponents (base 2) of the magnitude of arguments, and whether they may be negative.
DOMAINS: dict[str, tuple[float, float, bool]] = {
    "exp": (-60, 9.6, True), "exp2": (-60, 10.2, True), "exp10": (-60, 8.4, True), "expm1": (-70, 9.6, True),
    "log": (-1070, 1023, False), "log2": (-1070, 1023, False), "log10": (-1070, 1023, False),
    "log1p": (-70, 1023, False),
    "sin": (-70, 1023, True), "cos": (-70, 1023, True), "tan": (-70, 1023, True), "sinpi": (-70, 50, True),
    "cospi": (-70, 50, True), "asin": (-70, 0, True), "acos": (-70, 0, True), "atan": (-70, 80, True),
    "sinh": (-70, 9.6, True), "cosh": (-70, 9.6, True), "tanh": (-70, 5, True), "asinh": (-70, 1023, True),
    "acosh": (0, 1023, False), "atanh": (-70, 0, True), "cbrt": (-1070, 1023, True), "rsqrt": (-1070, 1023, False),
    "erf": (-70, 3, True), "erfc": (-70, 4.9, True), "tgamma": (-900, 7.4, True), "lgamma": (-900, 1000, True),
}  # fmt: skip


def _pow(x: Any, y: Any) -> Any:
    return x**y


#: Functions of two arguments by MPFR.
PAIRS: dict[str, Reference] = {"pow": _pow, "atan2": gmpy2.atan2, "hypot": gmpy2.hypot}


def arguments(name: str, count: int, rng: np.random.Generator) -> Array:
    """Random arguments of a function of one."""
    low, high, signed = DOMAINS[name]
    x = np.exp2(rng.uniform(low, high, count))
    moderate = np.exp2(rng.uniform(max(low, -6), min(high, 6), count))
    x = np.where(rng.random(count) < 0.6, moderate, x)
    if signed:
        x *= rng.choice([-1.0, 1.0], count)
    x[: count // 20] = 1.0 + rng.normal(size=count // 20) * np.exp2(rng.uniform(-50, -2, count // 20))
    if name == "acosh":
        x = 1.0 + np.abs(x - 1.0)
    return np.clip(x, -1.0, 1.0) if high == 0 else x


def pairs(count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Random arguments of a function of two: of like sizes, of far ones, and small fractions."""

    def one() -> Array:
        wide = np.exp2(rng.uniform(-140, 127, count)) * rng.choice([-1.0, 1.0], count)
        near = rng.normal(size=count) * np.exp2(rng.uniform(-3, 4, count))
        whole = rng.integers(-100, 100, count) / 8.0
        choice = rng.random(count)
        return np.where(choice < 0.3, wide, np.where(choice < 0.8, near, whole))

    return one(), one()


def worst(found: Array, reference: Reference, *columns: Array) -> tuple[float, tuple[float, ...]]:
    """The largest error in ulp of the exact result, and where; infinities and NaN have to be right."""
    most, at = 0.0, (math.nan,)
    with gmpy2.context(gmpy2.get_context(), precision=PRECISION, emax=1 << 26, emin=-(1 << 26)):
        for y, *x in zip(found.tolist(), *(c.tolist() for c in columns), strict=True):
            exact = reference(*map(mpfr, x))
            error = _error(y, exact)
            if error > most:
                most, at = error, tuple(x)
    return most, at


def _error(y: float, exact: Any) -> float:
    limit = mpfr(2) ** 1024 * (1 - mpfr(2) ** -54)
    if gmpy2.is_nan(exact):
        return 0.0 if y != y else math.inf
    if abs(exact) >= limit:
        return 0.0 if y == math.copysign(math.inf, exact) else math.inf
    if not math.isfinite(y):
        return math.inf
    return float(abs(mpfr(y) - exact) / mpfr(math.ulp(float(exact))))


def wrong_f32(found: Array, reference: Reference, *columns: Array) -> list[tuple[float, ...]]:
    """Where an f32 result is not the correctly rounded one. What differs is decided again with more bits: an angle
    may lie below a tie by its cube alone."""
    bad: list[tuple[float, ...]] = []
    for y, *x in zip(found, *(c.tolist() for c in columns), strict=True):
        if not _is(y, reference, x, PRECISION) and not _is(y, reference, x, 8 * PRECISION):
            bad.append(tuple(x))
    return bad


def _is(y: np.float32, reference: Reference, x: list[float], precision: int) -> bool:
    with gmpy2.context(gmpy2.get_context(), precision=precision, emax=1 << 26, emin=-(1 << 26)):
        exact = reference(*map(mpfr, x))
        wanted = np.float32(np.nan) if gmpy2.is_nan(exact) else nearest_f32(exact)
        return bool(y == wanted or (y != y and wanted != wanted))


def reference_of(name: str) -> Reference:
    return PAIRS[name] if name in PAIRS else FUNCTIONS[name][1]


def main() -> None:
    from tests.numerics.support import applied

    parser = argparse.ArgumentParser()
    parser.add_argument("functions", nargs="*", default=[*DOMAINS, *PAIRS])
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rows = {row.name: row for row in ELEMENTARY}
    for name in options.functions:
        started, rng = time.perf_counter(), np.random.default_rng(options.seed)
        columns = pairs(options.count, rng) if name in PAIRS else (arguments(name, options.count, rng),)
        found = np.empty(options.count)
        applied(rows[name], *[Scalar.F64] * len(columns)).on(options.device)(*columns, found)
        error, at = worst(found, reference_of(name), *columns)
        text = f"{name}: f64 {error:.4f} ulp at {', '.join(map(repr, at))}"
        if name in PAIRS:
            narrow = [c.astype(np.float32) for c in columns]
            found = np.empty(options.count, np.float32)
            applied(rows[name], Scalar.F32, Scalar.F32).on(options.device)(*narrow, found)
            text += f"; f32 {len(wrong_f32(found, reference_of(name), *narrow))} wrong"
        print(f"{text}; {options.count} inputs, {time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
