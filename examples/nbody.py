"""All-pairs gravity: every thread sums the pull of all bodies on its own, with softening."""

import math

import numpy as np

import isogrid as ig
from gallery import Example, Inputs, Job, Outputs, fma32, unit32
from isogrid import In, Out, f32
from isogrid.dims import N


@ig.kernel(grid=N, block=128)
def accelerations(
    x: In[f32, N], y: In[f32, N], z: In[f32, N], mass: In[f32, N], ax: Out[f32, N], ay: Out[f32, N], az: Out[f32, N]
) -> None:
    i = ig.gid()
    xi, yi, zi = x[i], y[i], z[i]
    sx, sy, sz = 0.0, 0.0, 0.0
    for j in range(len(x)):
        dx = x[j] - xi
        dy = y[j] - yi
        dz = z[j] - zi
        square = ig.fma(dx, dx, ig.fma(dy, dy, ig.fma(dz, dz, 0.01)))
        pull = mass[j] / (square * math.sqrt(square))
        sx = ig.fma(dx, pull, sx)
        sy = ig.fma(dy, pull, sy)
        sz = ig.fma(dz, pull, sz)
    ax[i] = sx
    ay[i] = sy
    az[i] = sz


def make_inputs(size: int, seed: int) -> Inputs:
    generator = np.random.default_rng(seed)
    return {name: unit32(generator, size) for name in ("x", "y", "z", "mass")}


def prepare(inputs: Inputs, device: str) -> Job:
    kernel = accelerations.on(device)
    x, y, z, mass = (inputs[name] for name in ("x", "y", "z", "mass"))
    ax, ay, az = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    return Job(lambda: kernel(x, y, z, mass, ax, ay, az), {"ax": ax, "ay": ay, "az": az})


def reference(inputs: Inputs) -> Outputs:
    x, y, z, mass = (inputs[name] for name in ("x", "y", "z", "mass"))
    sums = [np.zeros_like(x) for _ in range(3)]
    for j in range(len(x)):
        delta = [axis[j] - axis for axis in (x, y, z)]
        square = np.full_like(x, 0.01)
        for step in reversed(delta):
            square = fma32(step, step, square)
        pull = mass[j] / (square * np.sqrt(square))
        sums = [fma32(step, pull, total) for step, total in zip(delta, sums, strict=True)]
    return {"ax": sums[0], "ay": sums[1], "az": sums[2]}


EXAMPLE = Example(
    name="nbody",
    title="all-pairs gravity",
    sizes=(0, 1, 127, 128, 129, 141, 160),
    large=600,
    bench=4096,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: size,
)
