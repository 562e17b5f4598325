"""`isogrid devices`: what kernels can run on here, the default first, with the options of each."""

from typing import Annotated

import typer

from isogrid.cli.output import say, say_json, table


def devices(
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    options: Annotated[bool, typer.Option("--options", help="List the options of each device.")] = False,
) -> None:
    """List the devices of this machine."""
    from isogrid.launch.devices import choose, supported_options
    from isogrid.launch.devices import devices as all_devices

    chosen = choose(None).device.name
    every = all_devices()
    found = [(device.name, _what(device.name), device.name == chosen) for device in every]
    if json:
        say_json(
            [
                {"name": name, "description": what, "default": default, "options": supported_options(name)}
                for name, what, default in found
            ]
            + [
                {"name": name, "description": "", "default": False, "absent": reason}
                for name, reason in every.absent.items()
            ]
        )
        return
    rows = [(name, "default" if default else "", what) for name, what, default in found]
    say(table(rows + [(name, "absent", reason) for name, reason in every.absent.items()]))
    if options:
        for name, _, _ in found:
            say(f"{name}:")
            say(table(list(supported_options(name).items()), indent="  "))


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
