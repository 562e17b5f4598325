"""`isogrid run FILE`: run a script as `python FILE` would; refusals and traps are shown plainly."""

import os
import runpy
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Annotated

import typer

from isogrid.cli.failures import reported
from isogrid.cli.output import FINDINGS, fail, say, stop


def run(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A Python script; what follows it goes to the script.")],
    device: Annotated[str, typer.Option("--device", "-d", help="The device, as ISOGRID_DEVICE would name it.")] = "",
    trace: Annotated[bool, typer.Option("--trace", help="Show every launch on standard error.")] = False,
) -> None:
    """Run a Python script, with refusals and traps shown without a traceback of the library."""
    if not file.is_file():
        fail(f"there is no file {file}")
    if device:
        _check_device(device)
        os.environ["ISOGRID_DEVICE"] = device
    if trace:
        os.environ["ISOGRID_TRACE"] = "1"
    sys.argv = [str(file), *context.args]
    sys.path.insert(0, str(file.resolve().parent))
    from isogrid.launch.errors import LaunchError
    from isogrid.traps import Trap

    with reported():
        try:
            runpy.run_path(str(file), run_name="__main__")
        except (Trap, LaunchError) as problem:
            say(_user_text(problem), error=True)
            stop(FINDINGS)


def _check_device(name: str) -> None:
    from isogrid.launch.devices import device
    from isogrid.launch.errors import DeviceError

    try:
        device(name)
    except DeviceError as problem:
        fail(str(problem))


def _user_text(problem: BaseException) -> str:
    """The traceback with the frames of this library and of the script's runner left out."""
    ours = str(Path(__file__).resolve().parent.parent)
    runner = ("<frozen runpy>", runpy.__file__)
    frames: list[traceback.FrameSummary] = []
    entry: TracebackType | None = problem.__traceback__
    for frame in traceback.extract_tb(entry):
        if not frame.filename.startswith(ours) and frame.filename not in runner:
            frames.append(frame)
    head = ["Traceback (most recent call last):\n", *traceback.format_list(frames)] if frames else []
    return "".join([*head, *traceback.format_exception_only(type(problem), problem)]).rstrip()
