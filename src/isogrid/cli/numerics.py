"""`isogrid numerics`: run elementary functions over every f32 on a device and compare digests with the true values."""

import time
from typing import Annotated, Final

import typer

from isogrid.cli.output import FINDINGS, fail, say, stop

#: Blocks of 2^22 inputs.
_BLOCKS: Final = 1024


def numerics(
    functions: Annotated[list[str] | None, typer.Argument(help="Names such as exp; by default all.")] = None,
    device: Annotated[str, typer.Option("--device", "-d", help="Device to run on.")] = "cpu",
    every: Annotated[int, typer.Option("--every", help="Take only every n-th block of 2^22 inputs.")] = 1,
    build: Annotated[
        str, typer.Option("--build", help="`pairs`: the build for devices without f64 or fused multiply-add, on cpu.")
    ] = "",
) -> None:
    """Compare f32 functions with their correctly rounded values over all 2^32 inputs."""
    from isogrid.cli.device_digests import device_digests
    from isogrid.launch.devices import device as device_named
    from isogrid.mathlib.digests import known, known_functions

    if not 1 <= every <= _BLOCKS:
        fail(f"--every takes 1 to {_BLOCKS}, not {every}")
    device_named(device)
    names = functions or list(_in_pairs() if build else known_functions())
    if build:
        _judge_build(build, device, names)
    unknown = [name for name in names if name not in known_functions()]
    if unknown:
        fail(f"no digests are kept for {', '.join(unknown)}; there are some for {', '.join(known_functions())}")
    wrong = 0
    for name in names:
        started = time.perf_counter()
        expected = known(name)
        found = device_digests(name, device, every, build)
        different = [block for block, digest in found if digest != int(expected[block])]
        wrong += bool(different)
        blocks = f"{-(-len(expected) // every)} blocks"
        taken = f"{time.perf_counter() - started:.1f} s"
        if different:
            say(f"{name}: {len(different)} of {blocks} differ, the first at input 0x{different[0] << 22:08x} ({taken})")
        else:
            say(f"{name}: {blocks} of 2^22 inputs are correctly rounded ({taken})")
    if wrong:
        stop(FINDINGS)


def _in_pairs() -> tuple[str, ...]:
    from isogrid.builtins.elementary import BUILDS

    return tuple(name.removesuffix("_f32") for name in BUILDS["pairs"])


def _judge_build(build: str, device: str, names: list[str]) -> None:
    if build != "pairs":
        fail(f"there is no build {build!r} to choose; there is 'pairs'")
    if device != "cpu":
        fail(f"the build 'pairs' is chosen on cpu alone, by its option `without`, not on {device}")
    others = [name for name in names if name not in _in_pairs()]
    if others:
        fail(f"there is no build 'pairs' of {', '.join(others)}; there is one of {', '.join(_in_pairs())}")
