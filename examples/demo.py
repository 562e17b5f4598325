"""Check and run the whole gallery, show what agreed and how long it took, and put a photograph through its pipeline.

python examples/demo.py [--output FOLDER]
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import isogrid as ig
from gallery import NAMES, Array, Example, canonical, kernels_of, load

#: Width in pixels of what one sees per panel at most.
PANEL = 600


@dataclass(slots=True)
class Row:
    """One line of the table. `agree` counts sizes on which interpreter and CPU gave equal bits."""

    name: str
    threads: int
    agree: str
    seconds: float
    numpy_seconds: float
    verdict: str

    @property
    def good(self) -> bool:
        return not self.verdict


def check(example: Example) -> str:
    """Check every kernel of the file; empty if nothing is refused."""
    for kernel in kernels_of(example.name):
        try:
            kernel.check()
        except ig.KernelRefused as refusal:
            return f"refused:{refusal}"
    return ""


def run(example: Example) -> Row:
    """Check, run small sizes on both devices, compare the large one with NumPy, time it."""
    trouble = check(example)
    agreed = 0
    for size in example.sizes:
        inputs = example.make_inputs(size, 1)
        small = {device: example.run(inputs, device) for device in ("interp", "cpu")}
        equal = all(np.array_equal(canonical(small["interp"][k]), canonical(small["cpu"][k])) for k in small["cpu"])
        agreed += equal
        trouble = trouble or ("" if equal else f"interpreter and CPU differ at size {size}")
    inputs = example.make_inputs(example.large, 1)
    job = example.prepare(inputs, "cpu")
    job.launch()
    expected = example.reference(inputs)
    trouble = trouble or example.complaint(inputs, job.outputs, expected)
    seconds = best_of(job.launch, 0.1)
    numpy_seconds = best_of(lambda: example.reference(inputs), 0.0)
    agree = f"{agreed} of {len(example.sizes)}"
    return Row(example.name, example.threads(example.large), agree, seconds, numpy_seconds, trouble)


def best_of(action: Callable[[], Any], budget: float) -> float:
    """Least time of several runs within about `budget` seconds."""
    times: list[float] = []
    while not times or sum(times) < budget:
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return min(times)


def table_of(rows: list[Row]) -> Table:
    caption = (
        "interp=CPU: sizes with equal bits. NumPy ms: the reference, which emulates fma where the kernel has it. "
        "same: the CPU gives what NumPy gives"
    )
    table = Table(title="isogrid gallery", title_justify="left", caption=caption, caption_justify="left")
    table.add_column("kernel", no_wrap=True)
    table.add_column("threads", justify="right", no_wrap=True)
    table.add_column("interp=CPU", no_wrap=True)
    for heading in ("CPU ms", "NumPy ms", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("same", no_wrap=True)
    for row in rows:
        table.add_row(
            row.name,
            f"{row.threads:,}",
            row.agree,
            milliseconds(row.seconds),
            milliseconds(row.numpy_seconds),
            f"{row.numpy_seconds / row.seconds:.1f}",
            "[green]yes" if row.good else "[red]no",
        )
    return table


def milliseconds(seconds: float) -> str:
    """Three digits, or all before the point."""
    value = seconds * 1e3
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def picture(folder: Path) -> Path:
    """Before and after: the photograph, its equalised grey, its edges, side by side."""
    from PIL import Image

    import photo

    original = photo.photograph()
    result = photo.EXAMPLE.run({"photo": original}, "cpu")
    panels: list[Array] = [original, *(np.repeat(result[name][..., None], 3, axis=2) for name in ("equal", "edges"))]
    gap = np.full((original.shape[0], 8, 3), 255, np.uint8)
    strip = np.concatenate([part for panel in panels for part in (panel[:, :PANEL], gap)][:-1], axis=1)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "photo.png"
    Image.fromarray(strip).save(file)
    return file


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("output"))
    options = parser.parse_args()
    console = Console()
    rows: list[Row] = []
    columns = (TextColumn("{task.description:16}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(NAMES))
        for name in NAMES:
            progress.update(task, description=name)
            rows.append(run(load(name)))
            progress.advance(task)
    console.print(table_of(rows))
    for row in rows:
        if not row.good:
            console.print(f"[red]{row.name}: {row.verdict}")
    console.print(f"before and after: {picture(options.output)}")
    bad = [row.name for row in rows if not row.good]
    console.print(f"[red]not as promised: {', '.join(bad)}" if bad else "[green]every kernel agrees on every device")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
