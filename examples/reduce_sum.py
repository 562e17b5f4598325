"""Sum of an array: every group folds 1024 elements in a tree in shared memory, then the partial sums are summed."""

from itertools import pairwise

import numpy as np

import isogrid as ig
from gallery import Array, Example, Inputs, Job, Outputs, unit32
from isogrid import In, Out, f32
from isogrid.dims import G, N

BLOCK = 256
CHUNK = 4 * BLOCK


@ig.kernel(groups=ig.cdiv(N, CHUNK), block=BLOCK)
def partial_sums(x: In[f32, N], sums: Out[f32, G]) -> None:
    tile = ig.shared(f32, BLOCK)
    t = ig.lid()
    group = ig.group_id()
    acc = 0.0
    for k in range(4):
        i = group * CHUNK + k * BLOCK + t
        if i < len(x):
            acc += x[i]
    tile[t] = acc
    ig.barrier()
    for level in range(8):
        half = (BLOCK // 2) >> level
        if t < half:
            tile[t] += tile[t + half]
        ig.barrier()
    if t == 0 and group < len(sums):
        sums[group] = tile[0]


def make_inputs(size: int, seed: int) -> Inputs:
    return {"x": unit32(np.random.default_rng(seed), size)}


def levels(size: int) -> list[int]:
    """Lengths of the arrays of partial sums, down to one."""
    lengths: list[int] = []
    while size > 1 or not lengths:
        size = -(-size // CHUNK)
        lengths.append(size)
    return lengths


def prepare(inputs: Inputs, device: str) -> Job:
    kernel, x = partial_sums.on(device), inputs["x"]
    buffers = [x] + [np.zeros(length, np.float32) for length in levels(len(x))]

    def launch() -> None:
        for source, target in pairwise(buffers):
            kernel(source, target)

    return Job(launch, {"sum": buffers[-1]})


def reference(inputs: Inputs) -> Outputs:
    x: Array = inputs["x"]
    for length in levels(len(x)):
        padded = np.zeros((length, 4, BLOCK), np.float32)
        padded.reshape(-1)[: len(x)] = x
        fold = np.zeros((length, BLOCK), np.float32)
        for k in range(4):
            fold = fold + padded[:, k]
        while fold.shape[1] > 1:
            half = fold.shape[1] // 2
            fold = fold[:, :half] + fold[:, half:]
        x = fold[:, 0]
    return {"sum": np.ascontiguousarray(x)}


EXAMPLE = Example(
    name="reduce_sum",
    title="sum by trees in shared memory",
    sizes=(0, 1, 255, 256, 257, 1003, 3000),
    large=1_000_003,
    bench=1 << 20,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: sum(levels(size)) * BLOCK,
)
