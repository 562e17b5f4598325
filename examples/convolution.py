"""5 x 5 convolution through a shared tile with a halo of two; edges repeat the nearest pixel."""

from typing import Literal

import numpy as np

import isogrid as ig
from gallery import Example, Inputs, Job, Outputs, fma32, unit32
from isogrid import In, Out, f32
from isogrid.dims import H, W

TILE = 16
SIDE = TILE + 4


@ig.kernel(groups=(ig.cdiv(H, TILE), ig.cdiv(W, TILE)), block=(TILE, TILE))
def convolve(x: In[f32, H, W], mask: In[f32, Literal[5], Literal[5]], y: Out[f32, H, W]) -> None:
    tile = ig.shared(f32, (SIDE, SIDE))
    gy, gx = ig.group_ids()
    ly, lx = ig.lids()
    height, width = x.shape
    for t in range(ig.lid(), SIDE * SIDE, TILE * TILE):
        row = ig.clamp(gy * TILE + t // SIDE - 2, 0, height - 1)
        column = ig.clamp(gx * TILE + t % SIDE - 2, 0, width - 1)
        tile[t // SIDE, t % SIDE] = x[row, column]
    ig.barrier()
    i, j = ig.gids()
    if i < height and j < width:
        acc = 0.0
        for r in range(5):
            for c in range(5):
                acc = ig.fma(mask[r, c], tile[ly + r, lx + c], acc)
        y[i, j] = acc


def make_inputs(size: int, seed: int) -> Inputs:
    generator = np.random.default_rng(seed)
    rows = size + 1 if size > 1 else size
    return {"x": unit32(generator, rows, size), "mask": unit32(generator, 5, 5)}


def prepare(inputs: Inputs, device: str) -> Job:
    kernel, x, mask = convolve.on(device), inputs["x"], inputs["mask"]
    y = np.zeros_like(x)
    return Job(lambda: kernel(x, mask, y), {"y": y})


def reference(inputs: Inputs) -> Outputs:
    x, mask = inputs["x"], inputs["mask"]
    if x.size == 0:
        return {"y": x.copy()}
    padded = np.pad(x, 2, mode="edge")
    y = np.zeros_like(x)
    for r in range(5):
        for c in range(5):
            y = fma32(mask[r, c], padded[r : r + x.shape[0], c : c + x.shape[1]], y)
    return {"y": y}


EXAMPLE = Example(
    name="convolution",
    title="5 x 5 convolution with a halo tile",
    sizes=(0, 1, 15, 16, 17, 27, 32),
    large=500,
    bench=1024,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: -(-(size + 1) // TILE) * -(-size // TILE) * TILE * TILE,
)
