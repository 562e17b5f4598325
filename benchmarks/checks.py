"""What checks cost: each gallery kernel as it is, with its checks compiled out unproved, and with every check kept.

python -m benchmarks.checks [KERNEL ...] [--seconds 0.3]

Where every check is proved, the first two are the same code (`tests/cpu/test_proved_checks_are_free.py` compares the
text), so their times differ by noise only. The third shows what the proofs save.
"""

import argparse
import importlib
import os
import statistics
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import worker
from benchmarks.compare import Process
from benchmarks.progress import measured
from benchmarks.suite import CLASSES

#: The sides of the comparison: as compiled, without any check, with every check.
SIDES = ("as it is", "compiled out", "all kept")


class Side(Process):
    """A worker whose compiler treats checks in one of three ways and keeps nothing on disk."""

    def __init__(self, side: str) -> None:
        super().__init__("cpu", "benchmarks.checks", {"ISOGRID_CACHE_DIR": "", "ISOGRID_BENCH_CHECKS": side})


def compile_with(side: str) -> None:
    """Change how this process compiles kernels for the CPU."""
    from isogrid.backends.cpu.runtime import CpuRuntime
    from isogrid.passes.drop_checks import drop_checks

    original = CpuRuntime.compile
    match side:
        case "as it is":
            pass
        case "compiled out":
            CpuRuntime.compile = lambda self, kernel, options: original(self, drop_checks(kernel), options)
        case "all kept":
            os.environ["ISOGRID_DISABLE"] = "prove"
        case _:
            raise ValueError(side)


def least_times(name: str, seconds: float, rounds: int = 4) -> dict[str, float]:
    """Seconds of the quickest launch on each side, the sides taking turns."""
    sides = {side: Side(side) for side in SIDES}
    samples: dict[str, list[float]] = {side: [] for side in SIDES}
    try:
        with tempfile.TemporaryDirectory() as folder:
            for side, process in sides.items():
                process.ask(do="prepare", name=name, side="cpu", seed=1, file=str(Path(folder) / f"{side}.npz"))
        for turn in range(rounds):
            for side in SIDES if turn % 2 == 0 else reversed(SIDES):
                samples[side] += sides[side].ask(do="time", seconds=seconds / rounds)["samples"]
    finally:
        for process in sides.values():
            process.close()
    return {side: min(found) for side, found in samples.items()}


def kept_checks(name: str) -> int:
    """How many checks the kernels of an example keep."""
    sys.path.insert(0, str(worker.ROOT / "examples"))
    module = importlib.import_module(name)
    sys.path.pop(0)
    kernels = [value for value in vars(module).values() if getattr(type(value), "__isogrid_kernel__", False)]
    return sum(_kept(kernel) for kernel in kernels)


def _kept(kernel: object) -> int:
    from isogrid.analysis.facts import LaunchFacts
    from isogrid.frontend.build import build
    from isogrid.frontend.definition import Definition, Specialisation
    from isogrid.passes.remove_proved_checks import count_checks
    from isogrid.pipeline import optimise

    definition: Definition = kernel.definition  # type: ignore[attr-defined]
    constants = tuple((tunable.name, tunable.values[0]) for tunable in definition.tunables)
    return count_checks(
        optimise(build(definition, Specialisation(constants=constants)), frozenset(), LaunchFacts(), {})
    )


def main() -> int:
    if "ISOGRID_BENCH_CHECKS" in os.environ:
        compile_with(os.environ["ISOGRID_BENCH_CHECKS"])
        worker.main()
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", help="gallery kernels; all if none is named")
    parser.add_argument("--seconds", type=float, default=0.6, help="time spent on each side of each kernel")
    options = parser.parse_args()
    table = Table("kernel", "checks kept", *(f"{side} (us)" for side in SIDES), "out / is", "all / is")
    table.title = "What checks cost on the cpu, least times"
    console = Console(width=None if sys.stdout.isatty() else 120)
    ratios: list[float] = []
    names = options.kernels or list(CLASSES)
    found = measured(names, lambda name: (least_times(name, options.seconds), kept_checks(name)), console)
    for name, (times, kept) in zip(names, found, strict=True):
        own, without, every = (times[side] for side in SIDES)
        if not kept:
            ratios.append(without / own)
        cells = [f"{1e6 * time:.1f}" for time in (own, without, every)]
        table.add_row(name, str(kept), *cells, f"{without / own:.3f}", f"{every / own:.2f}")
    console.print(table)
    if ratios:
        console.print(f"where nothing is kept, the median of out / is: {statistics.median(ratios):.3f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
