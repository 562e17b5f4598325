"""Compare random kernels on several devices until the time is up; reduce what differs to a small kernel and a test.

    python -m tests.properties.generator.fuzz --minutes 10 --devices cpu,cuda --seed 1 --output output/fuzz

The interpreter runs each kernel too and decides. Without `--devices` every device of this machine is compared, those of
later versions too. A run says the next seed, from which another may go on. `isogrid fuzz` is this program.
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.properties.crew import Done, Lost, work_through

from .reduce import Finding, reduced, reduced_apart
from .tally import Tally, run_batch, settle_memory
from .testfile import write_test

#: Differences of one kind that are reduced; more of the same would show nothing new.
MOST_OF_A_KIND = 2
#: Kernels of a batch.
BATCH = 25


@dataclass(frozen=True, slots=True)
class Compare:
    """What a worker does."""

    devices: tuple[str, ...]

    def __call__(self, seeds: Sequence[int], packed: bool, note: Callable[[int, str], None]) -> Tally:
        os.environ["ISOGRID_CACHE_DIR"] = ""
        settle_memory()
        return run_batch(seeds, self.devices, packed=packed, note=note)


@dataclass(slots=True)
class Fuzz:
    """A run: `show` prints a line of progress, `say` what was found."""

    devices: tuple[str, ...]
    seed: int
    end: float
    output: Path
    first_only: bool = False
    apart: bool = True
    tally: Tally = field(default_factory=Tally)
    next_seed: int = 0
    found: int = 0
    kinds: Counter[str] = field(default_factory=Counter[str])
    late: set[int] = field(default_factory=set[int])

    def run(self, processes: int) -> None:
        self.next_seed, self.apart = self.seed, processes > 0
        for news in self._news(processes):
            match news:
                case Done():
                    self.tally.add(news.result)
                    self._passed(news.seeds)
                    for seed, device, text in news.result.troubles:
                        self._differs(Finding(seed, device, text))
                case Lost():
                    self._passed((news.seed,))
                    for device in self.devices[:1]:
                        self._differs(Finding(news.seed, device, f"lost: {news.text}", ends_process=True))
            self._show()
            if self.first_only and self.found:
                return

    def _news(self, processes: int) -> Iterator[Done | Lost]:
        if processes:
            yield from work_through(Compare(self.devices), self._batches(), processes)
            return
        work = Compare(self.devices)
        for seeds in self._batches():
            yield Done(tuple(seeds), work(seeds, True, lambda seed, stage: None))

    def _batches(self) -> Iterator[Sequence[int]]:
        seed = self.seed
        while time.monotonic() < self.end:
            yield range(seed, seed + BATCH)
            seed += BATCH

    def _passed(self, seeds: Sequence[int]) -> None:
        """The next seed is the first that is not done, though workers finish in any order."""
        self.late.update(seeds)
        while self.next_seed in self.late:
            self.late.remove(self.next_seed)
            self.next_seed += 1

    def _differs(self, finding: Finding) -> None:
        if self.first_only and self.found:
            return
        self.found += 1
        kind = f"{finding.device} {finding.kind}"
        self.kinds[kind] += 1
        if self.kinds[kind] > MOST_OF_A_KIND:
            print(f"\rseed {finding.seed} on {finding.device}: {finding.kind} once more", flush=True)
            return
        print(f"\rseed {finding.seed} on {finding.device}: {finding.text}\n", flush=True)
        small = reduced_apart(finding) if self.apart else reduced(finding)
        path = write_test(self.output, finding, small)
        print(f"{small.source}\nthe test is {path}\n", flush=True)

    def _show(self) -> None:
        if sys.stderr.isatty():
            left = max(0.0, self.end - time.monotonic())
            text = f"{self.tally.kernels} kernels, {self.found} differences, {left:.0f} s left"
            print(f"\r{_bar(self.tally.kernels // BATCH)} {text} ", end="", file=sys.stderr, flush=True)


def _bar(at: int, width: int = 12) -> str:
    """A mark that moves with every batch: how many there will be is not known."""
    return "[" + "".join("#" if place == at % width else "." for place in range(width)) + "]"


def present_devices() -> tuple[str, ...]:
    """Every device that can be compared with the interpreter, one of each family."""
    import isogrid as ig

    names = [device.name for device in ig.devices() if device.name != "interp" and ":" not in device.name]
    return tuple(sorted(names))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--devices", default="", help="commas between; every device of this machine without it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="0: in this process")
    parser.add_argument("--output", type=Path, default=Path("output/fuzz"), help="where tests of differences go")
    parser.add_argument("--first", action="store_true", help="end at the first difference")
    options = parser.parse_args(arguments)
    os.environ["ISOGRID_CACHE_DIR"] = ""
    devices = tuple(options.devices.split(",")) if options.devices else present_devices()
    run = Fuzz(devices, options.seed, time.monotonic() + options.minutes * 60, options.output, options.first)
    try:
        run.run(options.processes)
    except KeyboardInterrupt:
        print("\rstopped", file=sys.stderr)
    print(
        f"\r{run.tally.kernels} kernels, {run.tally.launches} launches on {', '.join(devices)}: "
        f"{run.found} differences; next seed {run.next_seed}"
    )
    return 1 if run.found else 0


if __name__ == "__main__":
    sys.exit(main())
