"""Greatest element by the group operation; a NaN anywhere is the answer, and +0 is greater than -0."""

import math
from itertools import pairwise

import numpy as np

import isogrid as ig
from gallery import Example, Inputs, Job, Outputs
from isogrid import In, Out, f32
from isogrid.dims import G, N

BLOCK = 256


@ig.kernel(groups=ig.cdiv(N, BLOCK), block=BLOCK)
def partial_maxima(x: In[f32, N], maxima: Out[f32, G]) -> None:
    i = ig.gid()
    value = x[i] if i < len(x) else -math.inf
    greatest = ig.group_max(value)
    group = ig.group_id()
    if ig.lid() == 0 and group < len(maxima):
        maxima[group] = greatest


def make_inputs(size: int, seed: int) -> Inputs:
    return {"x": np.random.default_rng(seed).standard_normal(size, dtype=np.float32)}


def levels(size: int) -> list[int]:
    """Lengths of the arrays of partial maxima, down to one."""
    lengths: list[int] = []
    while size > 1 or not lengths:
        size = -(-size // BLOCK)
        lengths.append(size)
    return lengths


def prepare(inputs: Inputs, device: str) -> Job:
    kernel, x = partial_maxima.on(device), inputs["x"]
    buffers = [x] + [np.zeros(length, np.float32) for length in levels(len(x))]

    def launch() -> None:
        for source, target in pairwise(buffers):
            kernel(source, target)

    return Job(launch, {"max": buffers[-1]})


def reference(inputs: Inputs) -> Outputs:
    x = inputs["x"]
    return {"max": np.full(min(len(x), 1), x.max(initial=-np.inf), np.float32)}


EXAMPLE = Example(
    name="reduce_max",
    title="maximum by group operations",
    sizes=(0, 1, 255, 256, 257, 1003, 2048),
    large=1_000_003,
    bench=1 << 20,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: sum(levels(size)) * BLOCK,
)
