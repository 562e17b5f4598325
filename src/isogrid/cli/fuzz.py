"""`isogrid fuzz`: random kernels on several devices against the interpreter, from a source checkout."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from isogrid.cli.bench import checkout
from isogrid.cli.output import fail, stop


def fuzz(
    minutes: Annotated[float, typer.Option("--minutes", "-m", help="How long to go on.")] = 1.0,
    devices: Annotated[
        str, typer.Option("--devices", "-d", help="Devices to compare, commas between; all of this machine without it.")
    ] = "",
    seed: Annotated[int, typer.Option("--seed", help="The first kernel; a run says where the next may start.")] = 1,
    processes: Annotated[int | None, typer.Option("--processes", "-j", help="Workers; one per processor.")] = None,
    output: Annotated[str, typer.Option("--output", "-o", help="Where a test of each difference goes.")] = "",
    first: Annotated[bool, typer.Option("--first", help="End at the first difference.")] = False,
) -> None:
    """Compare random kernels on devices with the interpreter; make a small kernel and a test of what differs."""
    from isogrid.launch.devices import device as device_named

    root = checkout()
    if root is None:
        fail(
            "the generator of kernels is part of the source checkout, not of the package; run this inside the checkout"
        )
    if not minutes > 0:
        fail(f"--minutes is how long to go on, not {minutes:g}")
    if processes is not None and processes < 0:
        fail(f"--processes is 0 or more, not {processes}")
    for name in filter(None, devices.split(",")):
        device_named(name.strip())
    program = [sys.executable, "-m", "tests.properties.generator.fuzz", f"--minutes={minutes}", f"--seed={seed}"]
    program += [f"--devices={devices}"] if devices else []
    program += [f"--processes={processes}"] if processes is not None else []
    program += [f"--output={Path(output).resolve()}"] if output else []
    program += ["--first"] if first else []
    stop(subprocess.call(program, cwd=root))
