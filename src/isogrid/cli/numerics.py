"""`isogrid numerics`: run elementary functions over every f32 on a device and compare digests with the true values."""

import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from isogrid.cli.output import FINDINGS, fail, say, stop

#: Inputs of one group and of one launch of the digest kernel.
GROUP, LAUNCH = 1 << 14, 1 << 28


def numerics(
    functions: Annotated[
        list[str] | None, typer.Argument(help="Names such as exp; by default all.")
    ] = None,
    device: Annotated[str, typer.Option("--device", "-d", help="Device to run on.")] = "cpu",
    every: Annotated[int, typer.Option("--every", help="Take only every n-th block of 2^22 inputs.")] = 1,
) -> None:
    """Compare f32 functions with their correctly rounded values over all 2^32 inputs."""
    from isogrid.builtins.index import builtin_named
    from isogrid.mathlib.digests import known, known_functions

    names = functions or list(known_functions())
    unknown = [name for name in names if name not in known_functions()]
    if unknown:
        fail(f"no digests are kept for {', '.join(unknown)}; there are some for {', '.join(known_functions())}")
    wrong = 0
    for name in names:
        started = time.perf_counter()
        expected = known(name)
        different = [
            block for block, digest in _digests(_object(builtin_named(name).spellings[0]), device, every)
            if digest != int(expected[block])
        ]  # fmt: skip
        wrong += bool(different)
        blocks = f"{-(-len(expected) // every)} blocks"
        taken = f"{time.perf_counter() - started:.1f} s"
        if different:
            say(f"{name}: {len(different)} of {blocks} differ, the first at input 0x{different[0] << 22:08x} ({taken})")
        else:
            say(f"{name}: {blocks} of 2^22 inputs are correctly rounded ({taken})")
    if wrong:
        stop(FINDINGS)


def _object(spelling: str) -> Any:
    """The Python object that a spelling names: `math.exp`."""
    import math

    import isogrid

    module, _, name = spelling.partition(".")
    return getattr(math if module == "math" else isogrid, name)


def _digests(function: Any, device: str, every: int) -> Iterator[tuple[int, int]]:
    """Number and digest of each block."""
    import numpy as np

    from isogrid.mathlib.digests import BLOCK

    run = digest_kernel(function).on(device)
    blocks = (1 << 32) // BLOCK
    step = LAUNCH // BLOCK if every == 1 else 1
    for first in range(0, blocks, step if every == 1 else every):
        out = np.zeros(step * BLOCK // GROUP, np.uint64)
        run(first * BLOCK, out)
        for place, digest in enumerate(out.reshape(step, -1).sum(axis=1, dtype=np.uint64)):
            yield first + place, int(digest)


def digest_kernel(function: Callable[[float], float]) -> Any:
    """A kernel that gives the digest of each group of inputs, from the input with the bits `first` on."""
    import isogrid as ig
    from isogrid import Out, f32, w32, w64
    from isogrid.dims import N

    trips = GROUP // 256

    @ig.kernel(groups=N, block=256)
    def digest(first: w32, out: Out[w64, N]) -> None:
        thread = ig.lid()
        group = ig.group_id()
        total = w64(0)
        for trip in range(trips):
            bits = first + w32(group) * w32(GROUP) + w32(trip * 256 + thread)
            result = ig.bitcast(w32, function(ig.bitcast(f32, bits)))
            value = ((w64(result) << 32) | w64(bits)) * 0x9E3779B97F4A7C15
            value = (value ^ (value >> 32)) * 0xD6E8FEB86659FD93
            total += value ^ (value >> 29)
        whole = ig.group_sum(total)
        if thread == 0:
            out[group] = whole

    return digest
