"""`python -m benchmarks.plot RESULT.json PICTURE`: the figures of one run as a picture, png or svg by its ending.

One row per kernel, one mark per other program: its time over isogrid's, so marks right of 1 are slower than isogrid.
"""

import argparse
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

#: Okabe and Ito's colours, told apart by everybody, and a shape each for print.
MARKS: Final = (
    ("#0072b2", "o"),
    ("#d55e00", "s"),
    ("#009e73", "^"),
    ("#cc79a7", "D"),
    ("#e69f00", "v"),
    ("#56b4e9", "P"),
)
#: How the sides of `benchmarks.run` are called where people read.
NAMES: Final = {"numba:0": "Numba, idiomatic", "numba:1": "Numba, the same algorithm"}
ROW_INCHES: Final = 0.27


@dataclass(frozen=True, slots=True)
class Row:
    """A kernel and how many times as long each other program takes."""

    name: str
    ratios: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Figures:
    """What the picture shows: `title` says machine, date and command."""

    title: str
    rows: Sequence[Row]


def read(report: Mapping[str, Any]) -> Figures:
    """The figures of a file of `benchmarks.run` or of `benchmarks.cuda.run`."""
    if "card" in report:
        title = f"{report['card']}, driver {report['driver']}, {report['date'][:10]}: {report['command']}"
        return Figures(title, [Row(row["name"], _over(row["seconds"], "isogrid")) for row in report["rows"]])
    machine = report["machine"]
    title = f"{machine['processor']}, {machine['cores']} cores, {report['time'][:10]}: {report['command']}"
    rows = []
    for kernel in report["kernels"]:
        medians = {side: samples["median"] for side, samples in kernel["samples"].items()}
        if medians:
            rows.append(Row(kernel["name"], _over(medians, "cpu")))
    return Figures(title, rows)


def _over(seconds: Mapping[str, float], ours: str) -> dict[str, float]:
    return {side: taken / seconds[ours] for side, taken in seconds.items() if side != ours}


def draw(figures: Figures, picture: Path) -> None:
    """Writes the picture. Needs matplotlib (the `bench` extra)."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, NullFormatter

    sides = sorted({side for row in figures.rows for side in row.ratios})
    height = 1.6 + ROW_INCHES * len(figures.rows)
    figure, axes = pyplot.subplots(figsize=(8, height), layout="constrained")
    axes.set_xscale("log")
    axes.axvline(1, color="0.3", linewidth=1)
    for (colour, shape), side in zip(itertools.cycle(MARKS), sides, strict=False):
        places = [number for number, row in enumerate(figures.rows) if side in row.ratios]
        ratios = [figures.rows[number].ratios[side] for number in places]
        axes.scatter(ratios, places, color=colour, marker=shape, s=26, label=NAMES.get(side, side), zorder=3)
    axes.set_yticks(range(len(figures.rows)), [row.name for row in figures.rows])
    axes.set_ylim(len(figures.rows) - 0.4, -0.6)
    axes.grid(axis="both", color="0.9", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    low, high = axes.get_xlim()
    axes.set_xticks([tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if low <= tick <= high])
    axes.set_xlabel("time of the other program / time of isogrid (right of 1: isogrid is faster)")
    axes.set_title(figures.title, fontsize=8, loc="left")
    figure.legend(loc="outside lower center", ncols=max(len(sides), 1), frameon=False)
    figure.savefig(picture, dpi=130)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=Path)
    parser.add_argument("picture", type=Path)
    options = parser.parse_args()
    draw(read(json.loads(options.result.read_text())), options.picture)


if __name__ == "__main__":
    main()
