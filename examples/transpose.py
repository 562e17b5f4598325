"""Matrix transpose through a padded tile in shared memory: both sides of the copy run along rows."""

import numpy as np

import isogrid as ig
from gallery import Example, Inputs, Job, Outputs, unit32
from isogrid import In, Out, f32
from isogrid.dims import H, W

TILE = 32
ROWS = 8


@ig.kernel(groups=(ig.cdiv(H, TILE), ig.cdiv(W, TILE)), block=(ROWS, TILE))
def transpose(x: In[f32, H, W], y: Out[f32, W, H]) -> None:
    tile = ig.shared(f32, (TILE, TILE + 1))
    gy, gx = ig.group_ids()
    ly, lx = ig.lids()
    for k in range(0, TILE, ROWS):
        i = gy * TILE + ly + k
        j = gx * TILE + lx
        if i < x.shape[0] and j < x.shape[1]:
            tile[ly + k, lx] = x[i, j]
    ig.barrier()
    for k in range(0, TILE, ROWS):
        i = gx * TILE + ly + k
        j = gy * TILE + lx
        if i < y.shape[0] and j < y.shape[1]:
            y[i, j] = tile[lx, ly + k]


def make_inputs(size: int, seed: int) -> Inputs:
    rows = size + 1 if size > 1 else size
    return {"x": unit32(np.random.default_rng(seed), rows, size)}


def prepare(inputs: Inputs, device: str) -> Job:
    kernel, x = transpose.on(device), inputs["x"]
    y = np.zeros(x.shape[::-1], np.float32)
    return Job(lambda: kernel(x, y), {"y": y})


def reference(inputs: Inputs) -> Outputs:
    return {"y": np.ascontiguousarray(inputs["x"].T)}


EXAMPLE = Example(
    name="transpose",
    title="transpose through a padded tile",
    sizes=(0, 1, 31, 32, 33, 43, 64),
    large=1000,
    bench=1024,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: -(-(size + 1) // TILE) * -(-size // TILE) * TILE * ROWS,
)
