"""The true values of the f32 functions over all 2^32 inputs, as digests, and the inputs that are hard to round.

    python -m tools.mathlib.reference exp sin      all inputs, about two minutes a function on one core
    python -m tools.mathlib.reference --subset     the 2^20 inputs that every run of the tests compares

NumPy's or the C library's f64 function gives a first value, whose error is below 2^-46. Where no f32 rounding boundary
lies within 2^-45 of it that decides; MPFR decides the others, about a thousand inputs of a function, with as many
bits as it takes. No function of isogrid is used. The digest of a block is the sum of `mixed(x, y)` over its inputs,
modulo 2^64: the kernel of `isogrid numerics` computes the same on any device.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np
from gmpy2 import mpfr

from isogrid.mathlib.digests import BLOCK, digest_of, mixed, subset
from tools.mathlib.c_loops import compiled

ROOT = Path(__file__).resolve().parents[2]
DIGESTS = ROOT / "src" / "isogrid" / "mathlib" / "digests"
HARD = ROOT / "tests" / "numerics" / "hard"
#: Inputs of one step of the computation.
STEP = 1 << 15
MARGIN = 2.0**-45
#: What is kept as a hard case.
KEPT = 2.0**-46
Array = np.ndarray[Any, Any]


def _exp10(x: Array) -> Array:
    return np.power(10.0, x)


def _quarters(x: Array) -> tuple[Array, Array]:
    """x modulo 2 as q / 2 + r, exactly."""
    turn = np.fmod(np.abs(x), 2.0)
    q = np.rint(turn * 2.0)
    return q.astype(np.int64), turn - 0.5 * q


def _sinpi(x: Array) -> Array:
    q, r = _quarters(np.where(np.isfinite(x), x, 0.0))
    y = np.where(q & 1, np.cos(np.pi * r), np.sin(np.pi * r))
    y = np.where(q & 2, -y, y)
    y = np.where(y == 0.0, np.copysign(0.0, x), np.where(x < 0.0, -y, y))
    return np.where(np.isfinite(x), y, np.nan)


def _cospi(x: Array) -> Array:
    q, r = _quarters(np.where(np.isfinite(x), x, 0.0))
    y = np.where(q & 1, -np.sin(np.pi * r), np.cos(np.pi * r))
    y = np.where(q & 2, -y, y)
    return np.where(np.isfinite(x), np.where(y == 0.0, 0.0, y), np.nan)


def _rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


def _of_c(name: str) -> Callable[[Array], Array]:
    """A function of the C library, in a loop that LLVM makes."""
    text = f"""
declare double @{name}(double)
define void @loop(ptr %x, ptr %y, i64 %n) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %head ]
  %p = getelementptr double, ptr %x, i64 %i
  %q = getelementptr double, ptr %y, i64 %i
  %v = load double, ptr %p
  %r = call double @{name}(double %v)
  store double %r, ptr %q
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %head, label %done
done:
  ret void
}}
"""
    loop = compiled(text, 2)

    def run(x: Array) -> Array:
        y = np.empty_like(x)
        loop(x.ctypes.data, y.ctypes.data, x.size)
        return y

    return run


def _exact_turn(function: Callable[[Any], Any], zero: float) -> Callable[[Any], Any]:
    """A function of pi times x, x taken modulo 2 first, that is 0 where x - `zero` is whole."""

    def run(x: Any) -> Any:
        turn = gmpy2.fmod(x, 2)
        whole = turn - zero
        return mpfr(0) if whole == gmpy2.floor(whole) else function(gmpy2.const_pi() * turn)

    return run


def _lgamma(x: Any) -> Any:
    return gmpy2.lgamma(x)[0]


#: f64 approximation and MPFR's function.
FUNCTIONS: dict[str, tuple[Callable[[Array], Array], Callable[[Any], Any]]] = {
    "exp": (np.exp, gmpy2.exp),
    "log": (np.log, gmpy2.log),
    "sin": (np.sin, gmpy2.sin),
    "cos": (np.cos, gmpy2.cos),
    "tanh": (np.tanh, gmpy2.tanh),
    "rsqrt": (_rsqrt, gmpy2.rec_sqrt),
    "exp2": (np.exp2, gmpy2.exp2),
    "log2": (np.log2, gmpy2.log2),
    "tan": (np.tan, gmpy2.tan),
    "atan": (np.arctan, gmpy2.atan),
    "expm1": (np.expm1, gmpy2.expm1),
    "log1p": (np.log1p, gmpy2.log1p),
    "exp10": (_exp10, gmpy2.exp10),
    "log10": (np.log10, gmpy2.log10),
    "asin": (np.arcsin, gmpy2.asin),
    "acos": (np.arccos, gmpy2.acos),
    "sinh": (np.sinh, gmpy2.sinh),
    "cosh": (np.cosh, gmpy2.cosh),
    "asinh": (np.arcsinh, gmpy2.asinh),
    "acosh": (np.arccosh, gmpy2.acosh),
    "atanh": (np.arctanh, gmpy2.atanh),
    "cbrt": (np.cbrt, gmpy2.cbrt),
    "sinpi": (_sinpi, _exact_turn(gmpy2.sin, 0.0)),
    "cospi": (_cospi, _exact_turn(gmpy2.cos, 0.5)),
    "erf": (_of_c("erf"), gmpy2.erf),
    "erfc": (_of_c("erfc"), gmpy2.erfc),
    "lgamma": (_of_c("lgamma"), _lgamma),
    "tgamma": (_of_c("tgamma"), gmpy2.gamma),
}


#: f(-x) = -f(x), and f(-x) = f(x).
ODD = {"sin", "tan", "tanh", "atan", "asin", "sinh", "asinh", "atanh", "cbrt", "sinpi", "erf"}
EVEN = {"cos", "cosh", "cospi"}


def rounded(function: Callable[[Any], Any], x: float) -> np.float32:
    """The f32 nearest to the function at x: more bits until both ends of the error round alike."""
    precision = 120
    while True:
        with gmpy2.context(gmpy2.get_context(), precision=precision, emax=1 << 20, emin=-(1 << 20)):
            value = function(mpfr(x, 60))
            error = abs(value) * mpfr(2) ** (8 - precision)
            low, high = nearest_f32(value - error), nearest_f32(value + error)
            if low == high or precision > 2000:
                return low
        precision *= 2


def nearest_f32(value: Any) -> np.float32:
    """An MPFR number rounded to f32: to odd in f64 first, so that the second rounding is right."""
    with gmpy2.context(precision=53, round=gmpy2.RoundToZero, emax=1024, emin=-1073, subnormalize=True) as context:
        low = float(mpfr(value))
        inexact = context.inexact or mpfr(low) != value
    if inexact and np.isfinite(low) and not np.float64(low).view(np.int64) & 1:
        low = float((np.float64(low).view(np.int64) + 1).view(np.float64))
    with np.errstate(over="ignore", under="ignore"):
        return np.float32(low)


class Sweep:
    """The values of one function, block by block."""

    def __init__(self, name: str) -> None:
        self.quick, self.exact = FUNCTIONS[name]
        self.decided = 0
        self.hard: list[tuple[int, int]] = []

    def values(self, bits: Array) -> Array:
        """The true results for inputs given as u32 bits, as u32 bits; a NaN is 0x7FC00000."""
        x = bits.view(np.float32).astype(np.float64)
        y = self.quick(x)
        result = y.astype(np.float32)
        low, high = (y * (1.0 - MARGIN)).astype(np.float32), (y * (1.0 + MARGIN)).astype(np.float32)
        out = result.view(np.uint32).copy()
        out[np.isnan(result)] = 0x7FC00000
        doubtful = (low != high) & np.isfinite(y)
        if doubtful.any():
            places = np.flatnonzero(doubtful)
            near = (y * (1.0 - KEPT)).astype(np.float32)[places] != (y * (1.0 + KEPT)).astype(np.float32)[places]
            for place, keep in zip(places, near, strict=True):
                exact = rounded(self.exact, float(x[place])).view(np.uint32)
                out[place] = exact
                self.decided += 1
                if keep:
                    self.hard.append((int(bits[place]), int(exact)))
        return out


def digests(name: str) -> tuple[Array, Sweep]:
    sweep = Sweep(name)
    found = np.zeros((1 << 32) // BLOCK, np.uint64)
    mirrored = name in ODD or name in EVEN
    half = len(found) // 2
    started = time.time()
    with np.errstate(all="ignore"):
        for block in range(half if mirrored else len(found)):
            for first in range(block * BLOCK, (block + 1) * BLOCK, STEP):
                bits = np.arange(first, first + STEP, dtype=np.uint64).astype(np.uint32)
                values = sweep.values(bits)
                found[block] += mixed(bits, values).sum(dtype=np.uint64)
                if mirrored:
                    nan = values == np.uint32(0x7FC00000)
                    values ^= np.where(nan | (name in EVEN), np.uint32(0), np.uint32(0x80000000))
                    found[block + half] += mixed(bits | np.uint32(0x80000000), values).sum(dtype=np.uint64)
            if block % 128 == 127:
                print(f"{name} {block + 1} {time.time() - started:.0f} s, {sweep.decided} by MPFR", flush=True)
    if mirrored:
        sign = 0 if name in EVEN else 0x80000000
        sweep.hard += [(x | 0x80000000, y ^ sign) for x, y in sweep.hard]
    return found, sweep


def subset_digests() -> str:
    """Name and digest of every function over the subset."""
    inputs = subset()
    lines: list[str] = []
    with np.errstate(all="ignore"):
        for name in FUNCTIONS:
            sweep = Sweep(name)
            parts = [digest_of(part, sweep.values(part)) for part in inputs.reshape(-1, STEP)]
            lines.append(f"{name} {sum(parts) & (1 << 64) - 1:016x}\n")
    return "".join(lines)


def main() -> None:
    if sys.argv[1:] == ["--subset"]:
        (HARD.parent / "subset.txt").write_text(subset_digests())
        return
    for name in sys.argv[1:] or FUNCTIONS:
        if (DIGESTS / f"{name}.bin").exists() and not sys.argv[1:]:
            continue
        found, sweep = digests(name)
        DIGESTS.mkdir(exist_ok=True)
        (DIGESTS / f"{name}.bin").write_bytes(found.astype("<u8").tobytes())
        HARD.mkdir(exist_ok=True)
        text = "".join(f"{x:08x} {y:08x}\n" for x, y in sweep.hard)
        (HARD / f"{name}.txt").write_text(text)
        print(f"{name}: {sweep.decided} decided by MPFR, {len(sweep.hard)} hard cases", flush=True)


if __name__ == "__main__":
    main()
