"""Red-black Gauss-Seidel for the Poisson equation: red points read black ones only, so each colour runs in place."""

import numpy as np

import isogrid as ig
from gallery import Array, Example, Inputs, Job, Outputs, fma32, unit32
from isogrid import In, InOut, f32, i32
from isogrid.dims import H, W

SWEEPS = 4


@ig.kernel(grid=(H, W), block=(8, 32))
def relax(u: InOut[f32, H, W], f: In[f32, H, W], spacing2: f32, colour: i32) -> None:
    i, j = ig.gids()
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1 and (i + j) % 2 == colour:
        around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
        u[i, j] = 0.25 * ig.fma(-spacing2, f[i, j], around)


def make_inputs(size: int, seed: int) -> Inputs:
    generator = np.random.default_rng(seed)
    rows = size + 1 if size > 1 else size
    return {"u": unit32(generator, rows, size), "f": unit32(generator, rows, size), "spacing2": 0.01}


def prepare(inputs: Inputs, device: str) -> Job:
    kernel, start, f, spacing2 = relax.on(device), inputs["u"], inputs["f"], inputs["spacing2"]
    u = start.copy()

    def launch() -> None:
        u[:] = start
        for sweep in range(2 * SWEEPS):
            kernel(u, f, spacing2, sweep % 2)

    return Job(launch, {"u": u})


def reference(inputs: Inputs) -> Outputs:
    u, f = inputs["u"].copy(), inputs["f"]
    if u.size == 0:
        return {"u": u}
    inner = (slice(1, -1), slice(1, -1))
    rows: Array = np.arange(int(u.shape[0]))[:, None]
    columns: Array = np.arange(int(u.shape[1]))[None]
    colours = (rows + columns)[inner] % 2
    for sweep in range(2 * SWEEPS):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        new = np.float32(0.25) * fma32(-np.float32(inputs["spacing2"]), f[inner], around)
        u[inner] = np.where(colours == sweep % 2, new, u[inner])
    return {"u": u}


EXAMPLE = Example(
    name="gauss_seidel",
    title="red-black Gauss-Seidel",
    sizes=(0, 1, 31, 32, 33, 43, 64),
    large=1000,
    bench=1024,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: (size + 1) * size,
)
