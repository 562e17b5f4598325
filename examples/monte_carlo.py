"""Pi by throwing darts: every thread draws from its own Philox-2x32-10 stream, a counter hashed in w32 arithmetic."""

from typing import Literal

import numpy as np

import isogrid as ig
from gallery import Array, Example, Inputs, Job, Outputs, fma32
from isogrid import InOut, Out, f32, i32, i64, w32
from isogrid.dims import N

DARTS = 32


@ig.func
def philox(counter: w32, stream: w32, key: w32) -> tuple[w32, w32]:
    """Ten rounds of Philox-2x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011)."""
    left = counter
    right = stream
    bump = key
    for _ in range(10):
        high = ig.mulhi(left, w32(0xD256D193))
        low = left * w32(0xD256D193)
        left = high ^ bump ^ right
        right = low
        bump += w32(0x9E3779B9)
    return left, right


@ig.func
def unit(bits: w32) -> f32:
    """The high 24 bits as a float in [0, 1)."""
    return f32(bits >> 8) * 2.0**-24


@ig.kernel(grid=1, block=1)
def clear(hits: Out[i64, Literal[1]]) -> None:
    hits[ig.gid()] = 0


@ig.kernel(grid=N, block=256)
def throw(seed: w32, found: Out[i32, N], hits: InOut[i64, Literal[1]]) -> None:
    i = ig.gid()
    inside = i32(0)
    if i < len(found):
        for dart in range(DARTS):
            a, b = philox(w32(dart), w32(i), seed)
            x = unit(a)
            y = unit(b)
            if ig.fma(x, x, y * y) < 1.0:
                inside += 1
        found[i] = inside
    total = ig.group_sum(inside)
    if ig.lid() == 0:
        ig.atomic_add(hits, 0, i64(total))


def make_inputs(size: int, seed: int) -> Inputs:
    return {"size": size, "seed": 12345 + seed}


def prepare(inputs: Inputs, device: str) -> Job:
    first, second, seed = clear.on(device), throw.on(device), inputs["seed"]
    found, hits = np.zeros(inputs["size"], np.int32), np.zeros(1, np.int64)

    def launch() -> None:
        first(hits)
        second(seed, found, hits)

    return Job(launch, {"found": found, "hits": hits})


def reference(inputs: Inputs) -> Outputs:
    found = np.zeros(inputs["size"], np.int32)
    stream = np.arange(inputs["size"], dtype=np.uint64)
    for dart in range(DARTS):
        left, right = np.full_like(stream, dart), stream
        for turn in range(10):
            bump = (inputs["seed"] + turn * 0x9E3779B9) & 0xFFFFFFFF
            product = left * np.uint64(0xD256D193)
            left, right = (product >> np.uint64(32)) ^ np.uint64(bump) ^ right, product & np.uint64(0xFFFFFFFF)
        x, y = unit_reference(left), unit_reference(right)
        found += fma32(x, x, y * y) < 1
    return {"found": found, "hits": np.array([found.sum(dtype=np.int64)])}


def unit_reference(bits: Array) -> Array:
    return (bits >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-24)


EXAMPLE = Example(
    name="monte_carlo",
    title="pi by Monte Carlo (Philox)",
    sizes=(0, 1, 255, 256, 257, 300, 512),
    large=100_003,
    bench=1 << 18,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: -(-size // 256) * 256,
)
