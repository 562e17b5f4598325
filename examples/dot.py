"""Dot product: every thread folds four products, the group operation folds the threads, one last group the rest."""

import numpy as np

import isogrid as ig
from gallery import Array, Example, Inputs, Job, Outputs, fma32, unit32
from isogrid import In, Out, f32
from isogrid.dims import G, N

BLOCK = 256
CHUNK = 4 * BLOCK


@ig.kernel(groups=ig.cdiv(N, CHUNK), block=BLOCK)
def partial_dots(x: In[f32, N], y: In[f32, N], sums: Out[f32, G]) -> None:
    group = ig.group_id()
    acc = 0.0
    for k in range(4):
        i = group * CHUNK + k * BLOCK + ig.lid()
        if i < len(x):
            acc = ig.fma(x[i], y[i], acc)
    total = ig.group_sum(acc)
    if ig.lid() == 0 and group < len(sums):
        sums[group] = total


@ig.kernel(groups=1, block=BLOCK)
def total_of(parts: In[f32, G], total: Out[f32, N]) -> None:
    acc = 0.0
    for i in range(ig.lid(), len(parts), BLOCK):
        acc += parts[i]
    result = ig.group_sum(acc)
    if ig.lid() == 0 and len(total) > 0:
        total[0] = result


def make_inputs(size: int, seed: int) -> Inputs:
    generator = np.random.default_rng(seed)
    return {"x": unit32(generator, size), "y": unit32(generator, size)}


def prepare(inputs: Inputs, device: str) -> Job:
    first, second, x, y = partial_dots.on(device), total_of.on(device), inputs["x"], inputs["y"]
    parts, total = np.zeros(-(-len(x) // CHUNK), np.float32), np.zeros(1, np.float32)

    def launch() -> None:
        first(x, y, parts)
        second(parts, total)

    return Job(launch, {"dot": total})


def fold(slots: Array) -> Array:
    """The tree order of `group_sum` along the last axis."""
    while slots.shape[-1] > 1:
        half = slots.shape[-1] // 2
        slots = slots[..., :half] + slots[..., half:]
    return slots[..., 0]


def reference(inputs: Inputs) -> Outputs:
    x, y = inputs["x"], inputs["y"]
    groups = -(-len(x) // CHUNK)
    both = np.zeros((2, groups, 4, BLOCK), np.float32)
    both.reshape(2, -1)[:, : len(x)] = x, y
    acc = np.zeros((groups, BLOCK), np.float32)
    for k in range(4):
        acc = fma32(both[0, :, k], both[1, :, k], acc)
    rounds = -(-groups // BLOCK)
    parts = np.zeros((rounds, BLOCK), np.float32)
    parts.reshape(-1)[:groups] = fold(acc)
    last = np.zeros(BLOCK, np.float32)
    for row in parts:
        last = last + row
    return {"dot": fold(last).reshape(1)}


EXAMPLE = Example(
    name="dot",
    title="dot product by group operations",
    sizes=(0, 1, 255, 256, 257, 1003, 3000),
    large=1_000_003,
    bench=1 << 20,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: (-(-size // CHUNK) + 1) * BLOCK,
)
