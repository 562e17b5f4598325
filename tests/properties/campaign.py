"""Compare many random kernels on all processors: the interpreter decides, other devices must agree.

    python -m tests.properties.campaign --seeds 0:100000 --processes 16 --devices cpu,cuda --every cuda=5 --report FILE

`--every cuda=5` sends every fifth batch of kernels to `cuda` too. A kernel that ends its process or never ends is
reported with its seed and stops nobody. The report is JSON and kept up to date; `--resume` goes on where it ends.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import isogrid as ig

from .crew import Done, Lost, work_through
from .generator.choices import Choices
from .generator.program import program
from .generator.tally import Tally, from_data, run_batch, settle_memory, table

#: Kernels of a batch, which are compiled in one module.
BATCH = 50
#: Seconds between two versions of the report.
PAUSE = 5.0


@dataclass(frozen=True, slots=True)
class Share:
    """What a worker does: every so many batches go to a device."""

    devices: tuple[str, ...]
    every: dict[str, int] = field(default_factory=dict[str, int])
    codegen: str = "llvm"

    def __call__(self, seeds: Sequence[int], packed: bool, note: Callable[[int, str], None]) -> Tally:
        os.environ["ISOGRID_CACHE_DIR"] = ""  # no kernel comes twice
        if self.codegen != "llvm":
            ig.default_options(cuda={"codegen": self.codegen})
        settle_memory()
        return run_batch(seeds, self.devices_of(seeds[0]), packed=packed, note=note)

    def devices_of(self, seed: int) -> list[str]:
        return [device for device in self.devices if seed // BATCH % self.every.get(device, 1) == 0]


def batches(first: int, end: int, done: set[int]) -> Iterator[tuple[int, ...]]:
    """Batches that begin at multiples of their size, without the seeds that are done."""
    for start in range(first // BATCH * BATCH, end, BATCH):
        seeds = tuple(seed for seed in range(max(start, first), min(start + BATCH, end)) if seed not in done)
        if seeds:
            yield seeds


@dataclass(slots=True)
class Campaign:
    """The state of a run: what was found, and which seeds are done."""

    share: Share
    first: int
    end: int
    code: str = ""
    tally: Tally = field(default_factory=Tally)
    done: set[int] = field(default_factory=set[int])
    lost: list[Lost] = field(default_factory=list[Lost])
    seconds: float = 0.0

    def run(self, processes: int, limit: float, heard: Callable[["Campaign"], None]) -> None:
        before, started = self.seconds, time.monotonic()
        for news in work_through(self.share, batches(self.first, self.end, self.done), processes, limit):
            match news:
                case Done():
                    self.tally.add(news.result)
                    self.done.update(news.seeds)
                case Lost():
                    self.lost.append(news)
                    self.done.add(news.seed)
            self.seconds = before + time.monotonic() - started
            heard(self)

    @property
    def faults(self) -> int:
        return len(self.tally.troubles) + len(self.lost)

    def report(self, processes: int) -> dict[str, Any]:
        rate = self.tally.kernels / max(self.seconds, 1e-9)
        return {
            "command": " ".join(sys.argv), "code": self.code, "codegen": self.share.codegen,
            "devices": list(self.share.devices), "every": self.share.every,
            "seeds": [self.first, self.end], "done": _ranges(self.done), "seconds": round(self.seconds, 1),
            "processes": processes, "kernels_per_second": round(rate, 1),
            "processor_ms_per_kernel": round(1000 * processes / max(rate, 1e-9), 1),
            "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors",
            "lost": [{"seed": lost.seed, "text": lost.text} for lost in self.lost], **self.tally.as_data(),
        }  # fmt: skip


def resumed(path: Path, share: Share, first: int, end: int, code: str) -> Campaign:
    """A campaign that goes on where its report ends."""
    data = json.loads(path.read_text())
    before = data["code"], data["codegen"], data["devices"], data["every"]
    if before != (code, share.codegen, list(share.devices), share.every):
        raise SystemExit(f"{path} is of code, codegen, devices and --every {before}")
    done = {seed for low, high in data["done"] for seed in range(low, high)}
    lost = [Lost(entry["seed"], entry["text"]) for entry in data["lost"]]
    return Campaign(share, first, end, code, from_data(data), done, lost, data["seconds"])


def _ranges(seeds: set[int]) -> list[list[int]]:
    """Seeds as half-open ranges."""
    ranges: list[list[int]] = []
    for seed in sorted(seeds):
        if ranges and ranges[-1][1] == seed:
            ranges[-1][1] += 1
        else:
            ranges.append([seed, seed + 1])
    return ranges


def run_campaign(seed: int, kernels: int, devices: Sequence[str] = ("cpu",), processes: int | None = None) -> Campaign:
    """All kernels of these seeds, spread over processes."""
    campaign = Campaign(Share(tuple(devices)), seed, seed + kernels)
    campaign.run(processes or os.cpu_count() or 1, 60.0, lambda state: None)
    return campaign


class _Screen:
    """One line of progress, and the report on disk."""

    def __init__(self, path: Path | None, processes: int) -> None:
        self.path, self.processes, self.saved = path, processes, time.monotonic()

    def __call__(self, state: Campaign) -> None:
        rate = state.tally.kernels / max(state.seconds, 1e-9)
        text = f"{len(state.done)}/{state.end - state.first} kernels, {rate:.1f} a second, {state.faults} differences"
        print(f"\r{text}", end="", file=sys.stderr, flush=True)
        if time.monotonic() - self.saved > PAUSE:
            self.save(state)

    def save(self, state: Campaign) -> None:
        self.saved = time.monotonic()
        if self.path is not None:
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps(state.report(self.processes), indent=1) + "\n")
            new.replace(self.path)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", default="0:5000", help="FIRST:END")
    parser.add_argument("--devices", default="cpu", help="commas between")
    parser.add_argument("--every", default="", help="DEVICE=N, commas between: only every Nth batch goes there")
    parser.add_argument("--codegen", choices=("llvm", "nvrtc"), default="llvm", help="how code for cuda is made")
    parser.add_argument("--code", default=_commit(), help="which code this is, for the report")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that a process may stay at one kernel")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--resume", action="store_true", help="go on where the report ends")
    parser.add_argument("--show", type=int, default=5, help="how many differences to print")
    parser.add_argument("--constructs", action="store_true", help="print the table of constructs")
    return parser.parse_args(arguments)


def _commit() -> str:
    """The commit of this source, and whether there are changes to it; empty where git does not know."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--abbrev=12", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    first, end = (int(part) for part in options.seeds.split(":"))
    every = {name: int(count) for name, _, count in (part.partition("=") for part in options.every.split(",") if part)}
    share = Share(tuple(options.devices.split(",")), every, options.codegen)
    again = options.resume and options.report is not None and options.report.exists()
    code = options.code
    state = resumed(options.report, share, first, end, code) if again else Campaign(share, first, end, code)
    screen = _Screen(options.report, options.processes)
    try:
        state.run(options.processes, options.limit, screen)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
    screen.save(state)
    return _summary(state, options)


def _summary(state: Campaign, options: argparse.Namespace) -> int:
    print(file=sys.stderr)
    text = table(state.tally)
    print(text if options.constructs else text.partition("\n\nconstructs")[0])
    report = state.report(options.processes)
    print(f"\n{report['seconds']} s, {report['kernels_per_second']} kernels a second, {state.faults} differences")
    if state.tally.alone:
        print(f"{state.tally.alone} times a kernel was compiled alone, since the module of its batch was refused")
    for lost in state.lost[: options.show]:
        print(f"\nseed {lost.seed}: {lost.text}\n{program(Choices(lost.seed)).source}")
    for seed, device, trouble in state.tally.troubles[: options.show]:
        print(f"\nseed {seed} on {device}: {trouble}\n{program(Choices(seed)).source}")
    return 1 if state.faults or len(state.done) < state.end - state.first else 0


if __name__ == "__main__":
    sys.exit(main())
