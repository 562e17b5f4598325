"""`isogrid devices`: what kernels can run on here, the default first, with the options of each and why it is exact."""

from typing import Annotated

import typer

from isogrid.cli.exactness import exactness_data, exactness_of_device, exactness_text
from isogrid.cli.output import FINDINGS, FINE, say, say_json, stop, table


def devices(
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    options: Annotated[bool, typer.Option("--options", help="List the options of each device.")] = False,
    exactness: Annotated[
        bool, typer.Option("--exactness", help="Run each self-test, and say why each operation is exact.")
    ] = False,
) -> None:
    """List the devices of this machine."""
    from isogrid.launch.devices import choose, self_test, supported_options
    from isogrid.launch.devices import devices as all_devices

    chosen = choose(None).device.name
    every = all_devices()
    found = [(device.name, _what(device.name), device.name == chosen) for device in every]
    trouble = {name: self_test(name) for name, _, _ in found} if exactness else {}
    reasons = {name: exactness_of_device(name) for name in trouble}
    ended = FINDINGS if any(trouble.values()) else FINE
    if json:
        say_json(
            [
                {"name": name, "description": what, "default": default, "options": supported_options(name)}
                | ({"exactness": exactness_data(reasons[name], trouble[name])} if exactness else {})
                for name, what, default in found
            ]
            + [
                {"name": name, "description": "", "default": False, "absent": reason}
                for name, reason in every.absent.items()
            ]
        )
        stop(ended)
    rows = [(name, "default" if default else "", what) for name, what, default in found]
    say(table(rows + [(name, "absent", reason) for name, reason in every.absent.items()]))
    if options:
        for name, _, _ in found:
            say(f"{name}:")
            say(table(list(supported_options(name).items()), indent="  "))
    for name in reasons:
        say("\n" + exactness_text(name, reasons[name], trouble[name]))
    stop(ended)


def _what(name: str) -> str:
    match name:
        case "cpu":
            import os

            from isogrid.backends.cpu.target import host_target

            target = host_target()
            return (
                f"native code through LLVM, {os.cpu_count()} processors, {target.cpu}, {target.vector_bits}-bit vectors"
            )
        case "interp":
            return "walks the kernel in Python: defines every result, finds races"
        case _:
            from isogrid.launch.backends import runtime

            return str(getattr(runtime(name), "description", ""))
