"""The program `isogrid`: puts the commands together. Exit codes: 0 fine, 1 findings, 2 the command could not run."""

import sys

from isogrid.cli.output import FAILED


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit."""
    try:
        import typer
    except ModuleNotFoundError:
        print("the command line needs typer and rich: pip install 'isogrid[cli]'", file=sys.stderr)
        raise SystemExit(FAILED) from None
    from isogrid.cli import bench, check, devices, doctor, emit, explain, fuzz, numerics, run

    app = typer.Typer(
        name="isogrid",
        help="Portable GPU kernels in typed Python, proved safe before they run.",
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
    app.command(name="bench", context_settings=arguments_go_on)(bench.bench)
    app(args=arguments, prog_name="isogrid")
