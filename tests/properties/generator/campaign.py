"""Thousands of random kernels over all cores, with a table of what they held.

python -m tests.properties.generator.campaign --kernels 5000 --seed 1
"""

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .choices import Choices
from .program import Program, program

if TYPE_CHECKING:
    from .execute import Outcome

#: Programs per task: long enough to hide the queue, short enough to show progress.
BATCH = 25


@dataclass(slots=True)
class Tally:
    """What a number of kernels held and how they ended."""

    kernels: int = 0
    launches: int = 0
    trapped: int = 0
    odd_sizes: int = 0
    constructs: Counter[str] = field(default_factory=Counter)
    traps: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    troubles: list[tuple[int, str]] = field(default_factory=list)

    def note(self, seed: int, made: Program, outcome: "Outcome") -> None:
        """Count one kernel."""
        self.kernels += 1
        self.launches += outcome.launches
        self.trapped += outcome.trapped
        self.traps.update(trap_kind(text) for text in outcome.traps)
        self.constructs.update(made.used)
        self.odd_sizes += made.odd_size
        if outcome.refused:
            self.refused[_code(outcome.refused)] += 1
            if "IG4" not in _code(outcome.refused):
                self.troubles.append((seed, f"refused: {outcome.refused}"))
        if outcome.trouble:
            self.troubles.append((seed, outcome.trouble))

    def add(self, other: "Tally") -> None:
        self.kernels += other.kernels
        self.launches += other.launches
        self.trapped += other.trapped
        self.odd_sizes += other.odd_sizes
        self.constructs += other.constructs
        self.traps += other.traps
        self.refused += other.refused
        self.troubles += other.troubles


def trap_kind(text: str) -> str:
    """What a trap's message is about, for the table."""
    kind, _, message = text.partition(": ")
    line = message.splitlines()[0]
    marks = {
        "shift amount": "shift amount", "range step": "step", "exponent": "exponent", "outside the range": "conversion",
        "stored value": "narrowing store", "the total of `group_": "group total", "the total of": "array total",
        "abs(": "abs", "-(": "-x", " ** ": "**", " << ": "<<", " * ": "*", " + ": "+", " - ": "-",
        " // ": "//", " % ": "%",
    }  # fmt: skip
    found = next((name for mark, name in marks.items() if mark in line), "")
    return f"{kind} {found}".strip()


def run_batch(first: int, count: int) -> Tally:
    """Seeds first .. first+count-1 in this process, compiled in one module."""
    from .execute import compared, compile_later, forget, prepare
    from .together import together

    tally = Tally()
    with together() as group:
        ready = [prepare(program(Choices(seed)), f"random kernel {seed}") for seed in range(first, first + count)]
        for one in ready:
            compile_later(one)
        group.finish()
        for seed, one in enumerate(ready, first):
            outcome = compared(one)
            forget(one)
            tally.note(seed, one.program, outcome)
    return tally


def _code(text: str) -> str:
    at = text.find("error[")
    return text[at + 6 : at + 11] if at >= 0 else text[:40]


def run_campaign(seed: int, kernels: int, workers: int | None = None, quiet: bool = False) -> Tally:
    """All kernels, spread over processes."""
    workers = workers or os.cpu_count() or 1
    starts = range(seed, seed + kernels, BATCH)
    counts = [min(BATCH, seed + kernels - start) for start in starts]
    total = Tally()
    # No kernel comes twice, so nothing is stored.
    with ProcessPoolExecutor(workers, initializer=os.environ.__setitem__, initargs=("ISOGRID_CACHE_DIR", "")) as pool:
        for done, part in enumerate(pool.map(run_batch, starts, counts), 1):
            total.add(part)
            if not quiet:
                print(
                    f"\r{min(done * BATCH, kernels)}/{kernels} kernels, {len(total.troubles)} troubles",
                    end="",
                    file=sys.stderr,
                )
    if not quiet:
        print(file=sys.stderr)
    return total


def table(tally: Tally) -> str:
    """Constructs, trap kinds and outcomes as text."""
    percent = 100 / max(tally.kernels, 1)
    compared = tally.kernels - sum(tally.refused.values())
    lines = [f"{tally.kernels} kernels, {compared} compared, {tally.launches} launches, {tally.trapped} trapping"]
    lines += [f"refused as certain to trap: {sum(tally.refused.values())} {dict(tally.refused)}"]
    lines += [f"a size that is no multiple of 16: {tally.odd_sizes * percent:.1f} % of kernels", "", "traps"]
    lines += [f"  {count:6d}  {name}" for name, count in tally.traps.most_common()]
    lines += ["", "constructs, % of kernels"]
    cells = [f"{count * percent:6.1f} {name}" for name, count in sorted(tally.constructs.items())]
    rows = -(-len(cells) // 3)
    lines += ["".join(f"{cells[at]:42}" for at in range(row, len(cells), rows)).rstrip() for row in range(rows)]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--show", type=int, default=5, help="how many troubles to print")
    options = parser.parse_args()
    started = time.perf_counter()
    tally = run_campaign(options.seed, options.kernels, options.workers)
    print(table(tally))
    print(f"\n{time.perf_counter() - started:.1f} s, {len(tally.troubles)} troubles")
    for seed, text in tally.troubles[: options.show]:
        print(f"\nseed {seed}: {text}\n{program(Choices(seed)).source}")
    return 1 if tally.troubles else 0


if __name__ == "__main__":
    sys.exit(main())
