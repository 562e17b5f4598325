"""Digests of an f32 function over all its inputs, computed on a device: one launch for each 2^28 inputs."""

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

import isogrid as ig
from isogrid import Out, bf16, f16, f32, w32, w64
from isogrid.builtins.index import builtin_named
from isogrid.dims import N
from isogrid.mathlib.digests import BLOCK

#: Inputs of one group, of one thread where there are no groups, and of one launch of the digest kernel.
GROUP, STRIP, LAUNCH = 1 << 14, 1 << 10, 1 << 28


@ig.func
def through_f16(x: f32) -> f32:
    """What an f16 element keeps of x."""
    element = ig.local(f16, 1)
    element[0] = f16(x)
    return element[0]


@ig.func
def through_bf16(x: f32) -> f32:
    """What a bf16 element keeps of x."""
    element = ig.local(bf16, 1)
    element[0] = bf16(x)
    return element[0]


#: Conversions whose digests are kept beside those of functions.
STORED: Final = {"f16": through_f16, "bf16": through_bf16}


def device_digests(name: str, device: str, every: int, build: str = "") -> Iterator[tuple[int, int]]:
    """Number and digest of each block of 2^22 inputs, or of every n-th, as the device computes the function; with
    `build` "pairs", as a CPU computes it that does without f64 and fused multiply-add."""
    function = STORED[name] if name in STORED else _object(builtin_named(name).spellings[0])
    # Threads of one processor run in lanes, which groups would hold up.
    kernel, each = (strip_kernel(function), STRIP) if device == "cpu" else (digest_kernel(function), GROUP)
    run = kernel.on(device)
    if build == "pairs":
        run = run.options(cpu={"without": "f64,fma"})
    blocks = (1 << 32) // BLOCK
    step = LAUNCH // BLOCK if every == 1 else 1
    for first in range(0, blocks, step if every == 1 else every):
        out = np.zeros(step * BLOCK // each, np.uint64)
        run(first * BLOCK, out)
        for place, digest in enumerate(out.reshape(step, -1).sum(axis=1, dtype=np.uint64)):
            yield first + place, int(digest)


def _object(spelling: str) -> Any:
    """The Python object that a spelling names: `math.exp`."""
    module, _, name = spelling.partition(".")
    return getattr(math if module == "math" else ig, name)


def digest_kernel(function: Callable[[float], float]) -> Any:
    """A kernel that gives the digest of each group of inputs, from the input with the bits `first` on."""
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


def strip_kernel(function: Callable[[float], float]) -> Any:
    """The same for each thread: its inputs are so far apart that those of neighbours are neighbours."""
    strips = BLOCK // STRIP

    @ig.kernel(grid=N)
    def digest(first: w32, out: Out[w64, N]) -> None:
        i = ig.gid()
        start = first + w32(i // strips) * w32(BLOCK) + w32(i % strips)
        total = w64(0)
        for trip in range(STRIP):
            bits = start + w32(trip) * w32(strips)
            result = ig.bitcast(w32, function(ig.bitcast(f32, bits)))
            value = ((w64(result) << 32) | w64(bits)) * 0x9E3779B97F4A7C15
            value = (value ^ (value >> 32)) * 0xD6E8FEB86659FD93
            total += value ^ (value >> 29)
        out[i] = total

    return digest
