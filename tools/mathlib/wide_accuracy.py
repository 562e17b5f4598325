"""The largest error of each f64 function over 10^8 random inputs, in two stages.

    python -m tools.mathlib.wide_accuracy exp pow --count 100000000 --seed 2      results go to benchmarks/results

The C library's `long double` function, with 64 bits on an x86, tells the error of every result to some thousandths of
an ulp. Where it is above 0.51 ulp, or one of the two is not finite, MPFR decides, as it does for the results that seem
the worst: no result of isogrid and no claim of the C library is taken for true unless the two, which share no code,
agree to 0.51 ulp. What has been done is skipped, so that a run that was broken off can be taken up.
"""

import argparse
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from isogrid.builtins.elementary import ELEMENTARY
from isogrid.ir.types import Scalar
from tools.mathlib.accuracy import DOMAINS, PAIRS, arguments, pairs, reference_of, worst
from tools.mathlib.c_loops import compiled

Array = np.ndarray[Any, Any]
RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "accuracy_f64.json"
#: Inputs of one step, and results of each step that MPFR looks at whatever their error seems to be.
STEP, LOOKED_AT = 1 << 20, 8
#: In ulp: up to here a result whose error the long double function tells is right.
CLEAR = 0.51
_PI = "0xK4000C90FDAA22168C235"
#: 2^-800 as an f64 and 2^200 as a long double: errors of results below are too small for f64.
_TINY, _UP = "0x0DF0000000000000", "0xK40C78000000000000000"

#: What LLVM computes from %a and %b, long doubles, where it is no function of the C library called `<name>l`.
_BODIES = {
    "rsqrt": "%s = call x86_fp80 @sqrtl(x86_fp80 %a)\n  %r = fdiv x86_fp80 0xK3FFF8000000000000000, %s",
    "sinpi": f"%s = fmul x86_fp80 %a, {_PI}\n  %r = call x86_fp80 @sinl(x86_fp80 %s)",
    "cospi": f"%s = fmul x86_fp80 %a, {_PI}\n  %r = call x86_fp80 @cosl(x86_fp80 %s)",
}
_CALLED = {"rsqrt": "sqrtl", "sinpi": "sinl", "cospi": "cosl"}


def _of_c(name: str, operands: int) -> Callable[..., tuple[Array, Array]]:
    """A function of arrays of arguments and of results: each error, and each true value as far as f64 holds it."""
    if platform.machine() not in ("x86_64", "AMD64"):
        raise SystemExit("a long double of 64 bits is needed: an x86")
    wide = ", ".join(f"x86_fp80 %{'ab'[n]}" for n in range(operands))
    body = _BODIES.get(name, f"%r = call x86_fp80 @{_CALLED.get(name, name + 'l')}({wide})")
    loads = "\n".join(
        f"  %p{n} = getelementptr double, ptr %x{n}, i64 %i\n  %v{n} = load double, ptr %p{n}\n"
        f"  %{'ab'[n]} = fpext double %v{n} to x86_fp80"
        for n in range(operands)
    )
    text = f"""
declare double @llvm.fabs.f64(double)
declare x86_fp80 @{_CALLED.get(name, name + "l")}({", ".join(["x86_fp80"] * operands)})
define void @loop({"".join(f"ptr %x{n}, " for n in range(operands))}ptr %y, ptr %error, ptr %value, i64 %n) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %head ]
{loads}
  {body}
  %q = getelementptr double, ptr %y, i64 %i
  %found = load double, ptr %q
  %given = fpext double %found to x86_fp80
  %near = fptrunc x86_fp80 %r to double
  %size = call double @llvm.fabs.f64(double %near)
  %tiny = fcmp olt double %size, {_TINY}
  %up = select i1 %tiny, x86_fp80 {_UP}, x86_fp80 0xK3FFF8000000000000000
  %apart = fsub x86_fp80 %given, %r
  %e = fmul x86_fp80 %apart, %up
  %short = fptrunc x86_fp80 %e to double
  %to = getelementptr double, ptr %error, i64 %i
  store double %short, ptr %to
  %at = getelementptr double, ptr %value, i64 %i
  store double %near, ptr %at
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %head, label %done
done:
  ret void
}}
"""
    loop = compiled(text, operands + 3)

    def run(columns: tuple[Array, ...], found: Array) -> tuple[Array, Array]:
        error, value = np.empty_like(found), np.empty_like(found)
        arrays = (*columns, found, error, value)
        loop(*(array.ctypes.data for array in arrays), found.size)
        return error, value

    return run


def _exact_turn(name: str, x: Array) -> Array:
    """An argument with the same value of the function, between -1/2 and 3/2 for sinpi and cospi: exact."""
    if name not in ("sinpi", "cospi"):
        return x
    turn = np.fmod(np.where(np.isfinite(x), x, 0.0), 2.0)
    turn = np.where(turn > 1.5, turn - 2.0, np.where(turn < -1.5, turn + 2.0, turn))
    if name == "sinpi":
        turn = np.where(turn > 0.5, 1.0 - turn, np.where(turn < -0.5, -1.0 - turn, turn))
    return turn


class Measured:
    """What is known of the errors of one function."""

    def __init__(self, name: str) -> None:
        self.name, self.operands = name, 2 if name in PAIRS else 1
        self.most, self.at, self.inputs, self.decided = 0.0, (0.0,) * self.operands, 0, 0
        self.quick = _of_c(name, self.operands)
        row = next(row for row in ELEMENTARY if row.name == name)
        from tests.numerics.support import applied

        self.kernel = applied(row, *[Scalar.F64] * self.operands).on("cpu")

    def step(self, columns: tuple[Array, ...]) -> None:
        found = np.empty(columns[0].size)
        self.kernel(*columns, found)
        turned = (_exact_turn(self.name, columns[0]), *columns[1:])
        error, value = self.quick(turned, found)
        with np.errstate(all="ignore"):
            scale = np.where(np.abs(value) < 2.0**-800, 2.0**200, 1.0)
            error = np.abs(error) / (np.spacing(np.abs(value)) * scale)
        alike = (found == value) | (np.isnan(found) & np.isnan(value))
        error = np.where(np.isfinite(error), error, np.where(alike, 0.0, np.inf))
        looked = np.union1d(np.flatnonzero(error > CLEAR), np.argpartition(error, -LOOKED_AT)[-LOOKED_AT:])
        most, at = worst(found[looked], reference_of(self.name), *(c[looked] for c in columns))
        self.inputs += found.size
        self.decided += looked.size
        if most > self.most:
            self.most, self.at = most, at


def measure(name: str, count: int, seed: int) -> dict[str, Any]:
    started, rng, measured = time.perf_counter(), np.random.default_rng(seed), Measured(name)
    while measured.inputs < count:
        columns = pairs(STEP, rng) if name in PAIRS else (arguments(name, STEP, rng),)
        measured.step(tuple(np.ascontiguousarray(c) for c in columns))
    print(
        f"{name}: {measured.most:.4f} ulp at {', '.join(map(repr, measured.at))}; {measured.inputs} inputs, "
        f"{measured.decided} looked at by MPFR, {time.perf_counter() - started:.0f} s",
        flush=True,
    )
    at = [float(x).hex() for x in measured.at]
    return {
        "ulp": round(measured.most, 5), "at": at, "inputs": measured.inputs, "seed": seed, "by_mpfr": measured.decided
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("functions", nargs="*")
    parser.add_argument("--count", type=int, default=10**8)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name in options.functions or [*DOMAINS, *PAIRS]:
        results: Path = options.results
        known = json.loads(results.read_text()) if results.exists() else {}
        if not options.functions and known.get(name, {}).get("inputs", 0) >= options.count:
            continue
        known[name] = measure(name, options.count, options.seed)
        results.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
