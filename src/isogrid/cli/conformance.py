"""`isogrid conformance --device D`: the suite that every device passes, against the interpreter, from a checkout."""

import os
import subprocess
import sys
from typing import Annotated

import typer

from isogrid.cli.bench import checkout
from isogrid.cli.output import fail, stop


def conformance(
    context: typer.Context,
    device: Annotated[
        str, typer.Option("--device", "-d", help="The device to judge, or several, commas between.")
    ] = "cpu",
) -> None:
    """Judge a device: every operation, statement and trap of the language against the interpreter.

    The suite is part of a source checkout. What else is given goes to pytest, such as -k operators or -n 8.
    """
    from isogrid.launch.devices import device as device_named

    root = checkout()
    if root is None:
        fail("the suite is part of the source checkout, not of the package; run this inside the checkout")
    for name in device.split(","):
        device_named(name.strip())
    program = [sys.executable, "-m", "pytest", "tests/conformance", *context.args]
    stop(subprocess.call(program, cwd=root, env=os.environ | {"ISOGRID_CONFORMANCE_DEVICES": device}))
