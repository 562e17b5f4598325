"""Histogram of bytes: atomics on 256 shared counters, then one global atomic per counter and group."""

from typing import Literal

import numpy as np

import isogrid as ig
from gallery import Example, Inputs, Job, Outputs
from isogrid import In, InOut, Out, i32, u8
from isogrid.dims import N

BLOCK = 256
CHUNK = 16 * BLOCK


@ig.kernel(grid=256, block=256)
def clear(bins: Out[i32, Literal[256]]) -> None:
    bins[ig.gid()] = 0


@ig.kernel(groups=ig.cdiv(N, CHUNK), block=BLOCK)
def histogram(x: In[u8, N], bins: InOut[i32, Literal[256]]) -> None:
    local = ig.shared(i32, 256)
    t = ig.lid()
    first = ig.group_id() * CHUNK
    for k in range(16):
        i = first + k * BLOCK + t
        if i < len(x):
            ig.atomic_add(local, x[i], 1)
    ig.barrier()
    ig.atomic_add(bins, t, local[t])


def make_inputs(size: int, seed: int) -> Inputs:
    values = np.random.default_rng(seed).normal(128, 40, size)
    return {"x": np.clip(values, 0, 255).astype(np.uint8)}


def prepare(inputs: Inputs, device: str) -> Job:
    first, second, x = clear.on(device), histogram.on(device), inputs["x"]
    bins = np.zeros(256, np.int32)

    def launch() -> None:
        first(bins)
        second(x, bins)

    return Job(launch, {"bins": bins})


def reference(inputs: Inputs) -> Outputs:
    return {"bins": np.bincount(inputs["x"], minlength=256).astype(np.int32)}


EXAMPLE = Example(
    name="histogram",
    title="byte histogram, shared then global atomics",
    sizes=(0, 1, 255, 256, 257, 1003, 4200),
    large=1_000_003,
    bench=1 << 20,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: 256 + -(-size // CHUNK) * BLOCK,
)
