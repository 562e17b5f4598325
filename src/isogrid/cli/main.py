"""The program `isogrid`: puts the commands together. Exit codes: 0 fine, 1 findings, 2 the command could not run."""

import os
import sys
from pathlib import Path

import isogrid
from isogrid.cli.output import FAILED, FINE, fail, say, stop


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit."""
    arguments = sys.argv[1:] if arguments is None else arguments
    _open_closed_streams()
    from isogrid.launch.errors import DeviceError, OptionError

    try:
        _run(arguments)
    except (DeviceError, OptionError) as problem:  # of a variable such as ISOGRID_DEVICE, or an option of the command
        if arguments[:1] == ["run"]:
            raise
        fail(str(problem))
    except OSError as problem:
        if arguments[:1] == ["run"]:  # the script's own error, for its author to see
            raise
        _drop_output()
        where = "it cannot write" if problem.filename is None else problem.filename
        say(f"isogrid: {where}: {problem.strerror or problem}", error=True)
        raise SystemExit(FAILED) from None


def _run(arguments: list[str]) -> None:
    try:
        import typer
    except ModuleNotFoundError:
        print("the command line needs typer and rich: pip install 'isogrid[cli]'", file=sys.stderr)
        raise SystemExit(FAILED) from None
    from isogrid.cli import bench, check, conformance, devices, doctor, emit, explain, fuzz, numerics, run

    if arguments == ["--version"]:
        say(f"isogrid {isogrid.__version__}")
        stop(FINE)
    app = typer.Typer(
        name="isogrid",
        help="Portable GPU kernels in typed Python, proved safe before they run.",
        epilog="isogrid --version prints the version.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.command(name="check")(check.check)
    arguments_go_on = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(name="run", context_settings=arguments_go_on)(run.run)
    app.command(name="emit")(emit.emit)
    app.command(name="explain")(explain.explain)
    app.command(name="devices")(devices.devices)
    app.command(name="doctor")(doctor.doctor)
    app.command(name="numerics")(numerics.numerics)
    app.command(name="fuzz")(fuzz.fuzz)
    app.command(name="conformance", context_settings=arguments_go_on)(conformance.conformance)
    app.command(name="bench", context_settings=arguments_go_on)(bench.bench)
    app(args=arguments, prog_name="isogrid")


def _open_closed_streams() -> None:
    """A caller may close them (`>&-`), and then there is no object to print to."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115


def _drop_output() -> None:
    """What a full disk did not take must not be tried again when Python ends."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
