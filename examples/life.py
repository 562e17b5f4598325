"""Conway's game of life on a torus of bytes, one generation per launch."""

import numpy as np

import isogrid as ig
from gallery import Example, Inputs, Job, Outputs
from isogrid import In, Out, u8
from isogrid.dims import H, W


@ig.kernel(grid=(H, W), block=(8, 32))
def generation(now: In[u8, H, W], after: Out[u8, H, W]) -> None:
    i, j = ig.gids()
    height, width = now.shape
    up = i - 1 if i > 0 else height - 1
    down = i + 1 if i < height - 1 else 0
    left = j - 1 if j > 0 else width - 1
    right = j + 1 if j < width - 1 else 0
    around = now[up, left] + now[up, j] + now[up, right] + now[i, left] + now[i, right]
    around += now[down, left] + now[down, j] + now[down, right]
    after[i, j] = 1 if around == 3 or (around == 2 and now[i, j] == 1) else 0


def make_inputs(size: int, seed: int) -> Inputs:
    rows = size + 1 if size > 1 else size
    return {"now": np.random.default_rng(seed).integers(0, 2, (rows, size), dtype=np.uint8)}


def prepare(inputs: Inputs, device: str) -> Job:
    kernel, now = generation.on(device), inputs["now"]
    after = np.zeros_like(now)
    return Job(lambda: kernel(now, after), {"after": after})


def reference(inputs: Inputs) -> Outputs:
    now = inputs["now"]
    shifts = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
    around = sum((np.roll(now, shift, (0, 1)) for shift in shifts), np.zeros_like(now))
    return {"after": ((around == 3) | ((around == 2) & (now == 1))).astype(np.uint8)}


EXAMPLE = Example(
    name="life",
    title="game of life on a torus",
    sizes=(0, 1, 31, 32, 33, 43, 64),
    large=1000,
    bench=1024,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: (size + 1) * size,
)
