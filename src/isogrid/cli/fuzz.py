"""`isogrid fuzz`: random kernels on several devices against the interpreter, from a source checkout."""

import subprocess
import sys
from typing import Annotated

import typer

from isogrid.cli.bench import checkout
from isogrid.cli.output import fail, stop


def fuzz(
    minutes: Annotated[float, typer.Option("--minutes", "-m", help="How long to go on.")] = 1.0,
    devices: Annotated[str, typer.Option("--devices", "-d", help="Devices to compare, commas between.")] = "cpu",
    seed: Annotated[int, typer.Option("--seed", help="The first kernel; a run says where the next may start.")] = 1,
) -> None:
    """Compare random kernels on devices with the interpreter, and reduce what differs to a small kernel."""
    root = checkout()
    if root is None:
        fail(
            "the generator of kernels is part of the source checkout, not of the package; run this inside the checkout"
        )
    program = [sys.executable, "-m", "tests.properties.generator.fuzz"]
    stop(subprocess.call([*program, f"--minutes={minutes}", f"--devices={devices}", f"--seed={seed}"], cwd=root))
