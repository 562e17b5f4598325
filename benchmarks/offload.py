"""Offloaded loops against Numba's `prange`, and what a call costs. Keeps its figures as JSON.

python -m benchmarks.offload [--rounds 12] [--output FILE]

Each side has a process of its own and runs alone, in alternating rounds; the least time of a side counts.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .compare import Process
from .machine import describe
from .offload_programs import CALLS, SIZE, arguments, isogrid_forms, numba_forms
from .progress import measured

RESULTS = Path(__file__).resolve().parent / "results"
#: Least ratio of Numba's time to isogrid's.
BARS = {"mapped": 0.95, "stencil": 0.95, "tile": 0.95, "reduction": 1.5, "conditional": 1.0, "histogram": 1.0}
#: Elements of the calls whose cost is measured, and the most microseconds that a call may take.
FEW, MOST_CALL = 1024, 1.5


def main() -> int:
    """0 if every bar holds, 1 if one does not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 120)
    busy = os.getloadavg()[0]
    if busy > 0.5:
        console.print(f"[yellow]the machine is busy (load {busy:.1f}): these are not figures to quote")
    sides = {side: Process(side, "benchmarks.offload_worker") for side in ("isogrid", "numba")}
    best: dict[str, dict[str, float]] = {name: {} for name in BARS}

    def compare(name: str) -> None:
        for side, process in sides.items():
            reply = process.ask(side=side, program=name, size=SIZE, repeats=5)
            best[name][side] = min(best[name].get(side, 1e9), reply["seconds"])

    def call(name: str) -> float:
        asked = {"side": "isogrid", "size": FEW, "repeats": 2000}
        return sides["isogrid"].ask(**asked, program=name)["seconds"] * 1e6

    measured([*BARS] * options.rounds, compare, console)
    few = (*BARS, *CALLS)
    calls = dict(zip(few, measured(few, call, console), strict=True))
    for process in sides.values():
        process.close()
    table = Table("program", "isogrid ms", "numba ms", "ratio", "bar", f"call on {FEW}, us")
    missed = False
    for name, times in best.items():
        ratio = times["numba"] / times["isogrid"]
        holds = ratio >= BARS[name]
        missed |= not holds
        table.add_row(
            name, f"{times['isogrid'] * 1e3:.3f}", f"{times['numba'] * 1e3:.3f}",
            f"[{'green' if holds else 'red'}]{ratio:.2f}", f"{BARS[name]:g}", f"{calls[name]:.2f}",
        )  # fmt: skip
    for name in CALLS:
        table.add_row(name, "", "", "", "", f"{calls[name]:.2f}")
    console.print(table)
    slowest = max(calls, key=lambda name: calls[name])
    console.print(f"a call on {FEW} elements may cost {MOST_CALL} us; `{slowest}` costs {calls[slowest]:.2f}")
    file = options.output or RESULTS / f"offload_{time.strftime('%Y-%m-%d_%H%M%S')}.json"
    kept: dict[str, Any] = {
        "machine": describe(),
        "load": {"before": busy, "after": os.getloadavg()[0]},
        "size": SIZE,
        "seconds": best,
        "call_us": calls,
    }
    file.write_text(json.dumps(kept, indent=1) + "\n")
    console.print(f"kept in {file}")
    return 1 if missed or calls[slowest] > MOST_CALL else 0


def timed(request: dict[str, Any], kept: dict[Any, Any]) -> dict[str, Any]:
    """The least seconds of one call of a program on one side."""
    side, name, size = request["side"], request["program"], request["size"]
    if side not in kept:
        kept[side] = isogrid_forms() if side == "isogrid" else numba_forms()
    if (size,) not in kept:
        kept[(size,)] = arguments(size)
    call, given = kept[side][name], kept[(size,)][name]
    call(*given)
    call(*given)
    least = 1e9
    for _ in range(request["repeats"]):
        started = time.perf_counter()
        call(*given)
        least = min(least, time.perf_counter() - started)
    return {"seconds": least}


if __name__ == "__main__":
    sys.exit(main())
