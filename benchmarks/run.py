"""The benchmark behind `isogrid bench`: every gallery kernel against Numba, then latencies. Keeps its figures as JSON.

python -m benchmarks.run [KERNEL ...] [--quick] [--no-latency]
"""

import argparse
import json
import math
import os
import shlex
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .compare import SIDES, Result, compare
from .latency import measure
from .machine import describe
from .progress import measured
from .suite import BARS, CLASSES, MEAN_BAR

RESULTS = Path(__file__).resolve().parent / "results"
#: At most so many samples of each side stay in the file.
KEPT = 50


def main(arguments: list[str] | None = None) -> int:
    """0 if every bar holds, 1 if one does not, 2 if results disagree or a kernel did not run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", nargs="*", help="gallery kernels; all if none is named")
    parser.add_argument("--quick", action="store_true", help="two short rounds: a first look, not a figure to quote")
    parser.add_argument("--no-latency", action="store_true")
    parser.add_argument("--output", type=Path, default=None, help="the JSON file; benchmarks/results/ by default")
    options = parser.parse_args(arguments)
    unknown = set(options.kernels) - set(CLASSES)
    if unknown:
        parser.error(f"unknown kernels: {', '.join(sorted(unknown))}; there are {', '.join(CLASSES)}")
    console = Console(width=None if sys.stdout.isatty() else 120)
    machine = describe()
    console.print(
        f"[bold]{machine['processor']}[/] ({machine['llvm_name']}, {machine['vectors']}), {machine['cores']} cores"
    )
    busy = os.getloadavg()[0]
    if busy > 0.5:
        console.print(f"[yellow]the machine is busy (load {busy:.1f}): these are not figures to quote")
    results = run_kernels(options.kernels or list(CLASSES), options.quick, console)
    console.print(speed_table(results))
    for result in results:
        if result.error:
            console.print(f"[red]{result.name}: {result.error}")
    mean = geometric_mean([result.ratio for result in results if result.samples])
    console.print(f"geometric mean of {len(results)} ratios: [bold]{mean:.2f}[/] (bar {MEAN_BAR})")
    latencies = [] if options.no_latency else measure()
    if latencies:
        console.print(latency_table(latencies))
    missed = misses(results, mean, latencies)
    for line in missed:
        console.print(f"[red]misses its bar: {line}")
    command = shlex.join(["python", "-m", "benchmarks.run", *(sys.argv[1:] if arguments is None else arguments)])
    file = save(
        options.output, machine, results, mean, latencies, {"before": busy, "after": os.getloadavg()[0]}, command
    )
    console.print(f"kept in {file}")
    if any(result.error for result in results):
        return 2
    return 1 if missed else 0


def misses(results: list[Result], mean: float, latencies: list[dict[str, Any]]) -> list[str]:
    """Everything that misses its bar, a line each."""
    lines = [
        f"{result.name}: {result.ratio:.2f} of {BARS[CLASSES[result.name]]:g} ({CLASSES[result.name]})"
        for result in results
        if result.samples and not verdict(result)
    ]
    if mean < MEAN_BAR:
        lines.append(f"geometric mean: {mean:.2f} of {MEAN_BAR:g}")
    late = [row for row in latencies if row["bar"] is not None and row["value"] > row["bar"]]
    return lines + [f"{row['name']}: {row['value']:.3g} {row['unit']}, at most {row['bar']:g}" for row in late]


def run_kernels(names: list[str], quick: bool, console: Console) -> list[Result]:
    """Compare kernel by kernel under a progress bar."""
    rounds, seconds = (2, 0.1) if quick else (5, 0.25)
    return measured(names, lambda name: compare(name, rounds=rounds, seconds=seconds), console)


def verdict(result: Result) -> bool:
    """Whether the kernel reaches the bar of its class."""
    bar = BARS[CLASSES[result.name]]
    return bool(result.samples) and not result.error and (bar is None or result.ratio >= bar)


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else math.nan


def speed_table(results: list[Result]) -> Table:
    title = "ms per launch, least of many; ratio = faster Numba form / isogrid, above 1 is faster"
    table = Table(title=title, title_justify="left")
    table.add_column("kernel", no_wrap=True)
    table.add_column("class", no_wrap=True)
    for heading in ("ours", "median", "idiomatic", "same", "ratio", "bar"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        kind = CLASSES[result.name]
        bar = "" if BARS[kind] is None else f"{BARS[kind]:g}"
        if not result.samples:
            table.add_row(result.name, kind, "-", "-", "-", "-", "-", bar)
            continue
        numba = [figure(result.least(side)) for side in SIDES[1:]]
        colour = "green" if verdict(result) else "red"
        ours = figure(result.least("cpu")), figure(result.median("cpu"))
        table.add_row(result.name, kind, *ours, *numba, f"[{colour}]{result.ratio:.2f}", bar)
    return table


def figure(seconds: float) -> str:
    """Milliseconds with three digits."""
    return f"{seconds * 1e3:.3g}" if seconds < 1 else f"{seconds * 1e3:.0f}"


def latency_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="latency", title_justify="left")
    table.add_column("what")
    table.add_column("value", justify="right")
    table.add_column("unit")
    table.add_column("at most", justify="right")
    for row in rows:
        over = row["bar"] is not None and row["value"] > row["bar"]
        colour = "red" if over else "green" if row["bar"] is not None else "default"
        bar = "" if row["bar"] is None else f"{row['bar']:g}"
        table.add_row(row["name"], f"[{colour}]{row['value']:.3f}", row["unit"], bar)
    return table


def save(
    file: Path | None,
    machine: dict[str, str | int],
    results: list[Result],
    mean: float,
    latencies: list[dict[str, Any]],
    load: dict[str, float],
    command: str,
) -> Path:
    """Write what was measured where, how and when. Of the samples, how they are spread and some of them."""
    stamp = time.strftime("%Y-%m-%d_%H%M%S", time.gmtime())
    target = file or RESULTS / f"{stamp}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    kernels = [
        {
            "name": result.name,
            "error": result.error,
            "first": {side: rounded(value) for side, value in result.first.items()},
            "samples": {side: spread(found) for side, found in result.samples.items()},
            "class": CLASSES[result.name],
            "bar": BARS[CLASSES[result.name]],
            "ratio": rounded(result.ratio) if result.samples else None,
            "median_ratio": rounded(result.median_ratio) if result.samples else None,
        }
        for result in results
    ]
    content = {
        "time": stamp,
        "command": command,
        "machine": machine,
        "load": load,
        "mean": rounded(mean),
        "latency": [{**row, "value": rounded(row["value"])} for row in latencies],
        "kernels": kernels,
    }
    target.write_text(json.dumps(content, indent=1) + "\n")
    return target


def spread(samples: list[float]) -> dict[str, Any]:
    """How many samples there are, where they lie, and about `KEPT` of them in the order of measuring."""
    ends = [samples[0]] * 3 if len(samples) == 1 else statistics.quantiles(samples, n=4, method="inclusive")
    quartiles = dict(zip(("lower_quartile", "median", "upper_quartile"), ends, strict=True))
    every = -(-len(samples) // KEPT)
    kept = [rounded(sample) for sample in samples[::every]]
    figures = {name: rounded(value) for name, value in {"least": min(samples), **quartiles}.items()}
    return {"count": len(samples), **figures, "some": kept}


def rounded(value: float) -> float:
    """Four digits: more than a clock is good for."""
    return float(f"{value:.4g}")


if __name__ == "__main__":
    sys.exit(main())
