"""`isogrid bench`: the benchmarks of the source checkout, on this processor or on a GPU. What follows goes to them."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from isogrid.cli.output import fail, stop


def bench(
    context: typer.Context,
    device: Annotated[str, typer.Option("--device", "-d", help="cpu, or cuda for the programs of a GPU.")] = "cpu",
    plot: Annotated[Path | None, typer.Option(help="Draw the kept figures too: a png or svg file.")] = None,
) -> None:
    """Measure the gallery against Numba on the CPU, or against CUDA C and the libraries that are installed on a GPU.

    Both are part of a source checkout. What else is given goes to `python -m benchmarks.run` or, for cuda, to
    `python -m benchmarks.cuda.run`; both keep their figures under benchmarks/results.
    """
    root = checkout()
    if root is None:
        fail("the benchmark is part of the source checkout, not of the package; run this inside the checkout")
    on_gpu = device.partition(":")[0] == "cuda"
    if not on_gpu and device != "cpu":
        fail(f"--device is cpu or cuda, not {device}")
    if on_gpu and (reason := absent("cuda")):
        fail(f"there is no device cuda to measure: {reason}")
    if not on_gpu and importlib.util.find_spec("numba") is None:
        fail("the benchmark compares with Numba, which is not installed; pip install -e '.[bench]' in the checkout")
    if plot is not None and importlib.util.find_spec("matplotlib") is None:
        fail("a picture needs matplotlib, which is not installed; pip install -e '.[bench]' in the checkout")
    program = ["benchmarks.cuda.run", "--device", device] if on_gpu else ["benchmarks.run"]
    results = root / "benchmarks" / "results"
    before = set(results.glob("*.json"))
    code = subprocess.call([sys.executable, "-m", *program, *context.args], cwd=root)
    kept = sorted(set(results.glob("*.json")) - before)
    if plot is not None and kept:
        picture = [sys.executable, "-m", "benchmarks.plot", str(kept[-1]), str(plot.absolute())]
        code = subprocess.call(picture, cwd=root) or code
    stop(code)


def absent(device: str) -> str | None:
    """Why there is no such device, None where there is one."""
    from isogrid.launch.devices import devices

    return devices().absent.get(device)


def checkout() -> Path | None:
    """The folder that holds `benchmarks/run.py`: here, above, or where the package is installed from."""
    here = Path.cwd()
    candidates = [here, *here.parents, Path(__file__).resolve().parents[3]]
    return next((folder for folder in candidates if (folder / "benchmarks" / "run.py").is_file()), None)
