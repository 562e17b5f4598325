"""Five-point stencil: the mean of the four neighbours, inner points only."""

import numpy as np

import isogrid as ig
from gallery import Example, Inputs, Job, Outputs, unit32
from isogrid import In, Out, f32
from isogrid.dims import H, W


@ig.kernel(grid=(H, W), block=(8, 32))
def stencil(x: In[f32, H, W], y: Out[f32, H, W]) -> None:
    i, j = ig.gids()
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


def make_inputs(size: int, seed: int) -> Inputs:
    rows = size + 1 if size > 1 else size
    return {"x": unit32(np.random.default_rng(seed), rows, size)}


def prepare(inputs: Inputs, device: str) -> Job:
    kernel, x = stencil.on(device), inputs["x"]
    y = x.copy()
    return Job(lambda: kernel(x, y), {"y": y})


def reference(inputs: Inputs) -> Outputs:
    x = inputs["x"]
    y = x.copy()
    y[1:-1, 1:-1] = np.float32(0.25) * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
    return {"y": y}


EXAMPLE = Example(
    name="stencil",
    title="five-point stencil",
    sizes=(0, 1, 31, 32, 33, 43, 64),
    large=1000,
    bench=1024,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: (size + 1) * size,
)
