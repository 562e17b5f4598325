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
from isogrid.cli.load import no_file
from isogrid.cli.output import FINDINGS, fail, say, stop


def run(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A Python script; what follows it goes to the script.")],
    device: Annotated[str, typer.Option("--device", "-d", help="The device, as ISOGRID_DEVICE would name it.")] = "",
    trace: Annotated[bool, typer.Option("--trace", help="Show every launch on standard error.")] = False,
) -> None:
    """Run a Python script, with refusals and traps shown without a traceback of the library."""
    if not file.is_file():
        fail(no_file(file))
    if device:
        _check_device(device)
        os.environ["ISOGRID_DEVICE"] = device
    if trace:
        os.environ["ISOGRID_TRACE"] = "1"
    sys.argv = [str(file), *context.args]
    sys.path.insert(0, str(file.resolve().parent))
    from isogrid.launch.errors import LaunchError
    from isogrid.support.errors import KernelRefused, KnownLimit
    from isogrid.traps import Trap

    with reported():
        try:
            runpy.run_path(str(file), run_name="__main__")
        except (Trap, LaunchError) as problem:
            say(_user_text(problem), error=True)
            stop(FINDINGS)
        except (KernelRefused, KnownLimit):
            raise
        except Exception as problem:
            problem.__traceback__ = _of_the_script(problem.__traceback__)
            sys.excepthook(type(problem), problem, problem.__traceback__)
            stop(FINDINGS)


def _of_the_script(entry: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that begins in the script; none where it did not start, as for a syntax error."""
    at = entry
    while at is not None and _is_of_the_runner(at.tb_frame.f_code.co_filename):
        at = at.tb_next
    return at


def _check_device(name: str) -> None:
    from isogrid.launch.devices import device
    from isogrid.launch.errors import DeviceError

    try:
        device(name)
    except DeviceError as problem:
        fail(str(problem))


def _user_text(problem: BaseException) -> str:
    """The traceback with the frames of this library and of the script's runner left out."""
    entry: TracebackType | None = problem.__traceback__
    frames = [frame for frame in traceback.extract_tb(entry) if not _is_of_the_runner(frame.filename)]
    head = ["Traceback (most recent call last):\n", *traceback.format_list(frames)] if frames else []
    return "".join([*head, *traceback.format_exception_only(type(problem), problem)]).rstrip()


def _is_of_the_runner(file: str) -> bool:
    """Whether a frame of this file is no frame of the script's, as it would be were the script started by Python."""
    ours = str(Path(__file__).resolve().parent.parent)
    return file.startswith(ours) or file in ("<frozen runpy>", runpy.__file__)
