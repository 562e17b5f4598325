"""How long it takes to check one kernel, everything included: all checks of `pipeline.CHECKS`, witnesses and remedies.

python -m benchmarks.checking [--mutants 1000] [--output FILE]

Kernels are the accepted ones of tests/accepted/races and the gallery; mutants are those of tests/mutation. Processor
time, the shortest of three runs; a mutant is checked once, and once more where it was the slowest so far.
"""

import argparse
import importlib
import json
import random
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.mutation.bases import bases, built
from tests.mutation.mutations import mutate

import isogrid as ig
from benchmarks.machine import describe
from benchmarks.suite import CLASSES
from isogrid.ir import kernel as k
from isogrid.pipeline import check_kernel

#: Most milliseconds of each figure.
BARS = {"median": 3.0, "95th percentile": 20.0, "bitonic sort on 1,024 threads": 50.0, "worst mutant": 300.0}


@ig.kernel(groups=1, block=1024)
def bitonic(x: ig.InOut[ig.i32, Literal[1024]]) -> None:
    """The textbook form: `while` loops over strides, the partner by exclusive or."""
    s = ig.shared(ig.i32, 1024)
    lid = ig.lid()
    s[lid] = x[lid]
    ig.barrier()
    k = 2
    while k <= 1024:
        j = k // 2
        while j > 0:
            other = lid ^ j
            if other > lid:
                a = s[lid]
                b = s[other]
                if (a > b) == (lid & k == 0):
                    s[lid] = b
                    s[other] = a
            ig.barrier()
            j //= 2
        k *= 2
    x[lid] = s[lid]


@dataclass(frozen=True, slots=True)
class Figure:
    """Milliseconds, and the kernel that they are of."""

    name: str
    milliseconds: float
    of: str = ""


def main(arguments: list[str] | None = None) -> int:
    """0 if every bar holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--output", type=Path, default=None, help="keep the figures as JSON")
    options = parser.parse_args(arguments)
    figures = measure(options.mutants)
    for figure in figures:
        verdict = "" if figure.milliseconds <= BARS[figure.name] else "  missed"
        print(
            f"{figure.name:32}{figure.milliseconds:8.1f} ms   at most {BARS[figure.name]:.0f} ms{verdict}  {figure.of}"
        )
    if options.output:
        content = {
            "machine": describe(),
            "milliseconds": {figure.name: round(figure.milliseconds, 3) for figure in figures},
            "bars": BARS,
            "mutants": options.mutants,
        }
        options.output.write_text(json.dumps(content, indent=1) + "\n")
    return int(any(figure.milliseconds > BARS[figure.name] for figure in figures))


def measure(mutants: int) -> list[Figure]:
    times = sorted((shortest(kernel), kernel.name) for kernel in kernels())
    values = [value for value, _ in times]
    figures = [
        Figure("median", statistics.median(values), f"of {len(values)} kernels"),
        Figure("95th percentile", *times[round(0.95 * (len(times) - 1))]),
        Figure("bitonic sort on 1,024 threads", shortest(built(bitonic))),
    ]
    slowest, name = 0.0, ""
    for number in range(mutants):
        mutant = mutant_of(number)
        if mutant is not None and once(mutant) > slowest and (again := shortest(mutant)) > slowest:
            slowest, name = again, f"number {number}, of {mutant.name}"
    return [*figures, Figure("worst mutant", slowest, name)]


def kernels() -> list[k.Kernel]:
    """Accepted kernels and the gallery, as kernel IR."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    modules = [importlib.import_module(name) for name in CLASSES]
    found: dict[str, Any] = {}
    for module in modules:
        for value in vars(module).values():
            if getattr(type(value), "__isogrid_kernel__", False):
                found[f"{module.__name__}.{value.definition.name}"] = value
    return [*bases(), *(built(value) for value in found.values() if not value.definition.generics)]


def mutant_of(number: int) -> k.Kernel | None:
    """One kernel broken in one or two places."""
    rng = random.Random(f"checking/{number}")
    kernel: k.Kernel | None = rng.choice(bases())
    for _ in range(rng.choice((1, 1, 2))):
        made = mutate(kernel, rng) if kernel is not None else None
        kernel = None if made is None else made[1]
    return kernel


def shortest(kernel: k.Kernel) -> float:
    return min(once(kernel) for _ in range(3))


def once(kernel: k.Kernel) -> float:
    started = time.process_time()
    check_kernel(kernel)
    return (time.process_time() - started) * 1e3


if __name__ == "__main__":
    raise SystemExit(main())
