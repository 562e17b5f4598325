"""`isogrid bench`: the benchmark of the source checkout, against Numba. What follows goes to it."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import typer

from isogrid.cli.output import fail, stop


def bench(context: typer.Context) -> None:
    """Measure the gallery against Numba (from a source checkout; arguments go to `python -m benchmarks.run`)."""
    root = checkout()
    if root is None:
        fail("the benchmark is part of the source checkout, not of the package; run this inside the checkout")
    if importlib.util.find_spec("numba") is None:
        fail("the benchmark compares with Numba, which is not installed; pip install -e '.[bench]' in the checkout")
    stop(subprocess.call([sys.executable, "-m", "benchmarks.run", *context.args], cwd=root))


def checkout() -> Path | None:
    """The folder that holds `benchmarks/run.py`: here, above, or where the package is installed from."""
    here = Path.cwd()
    candidates = [here, *here.parents, Path(__file__).resolve().parents[3]]
    return next((folder for folder in candidates if (folder / "benchmarks" / "run.py").is_file()), None)
