"""saxpy: `y = a x + y`, one thread per element, one rounding."""

import numpy as np

import isogrid as ig
from gallery import Example, Inputs, Job, Outputs, fma32, unit32
from isogrid import In, InOut, f32
from isogrid.dims import N


@ig.kernel(grid=N, block=256)
def saxpy(a: f32, x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    y[i] = ig.fma(a, x[i], y[i])


def make_inputs(size: int, seed: int) -> Inputs:
    generator = np.random.default_rng(seed)
    return {"a": 1.7, "x": unit32(generator, size), "y": unit32(generator, size)}


def prepare(inputs: Inputs, device: str) -> Job:
    kernel, a, x, y = saxpy.on(device), inputs["a"], inputs["x"], inputs["y"].copy()
    return Job(lambda: kernel(a, x, y), {"y": y})


def reference(inputs: Inputs) -> Outputs:
    return {"y": fma32(inputs["a"], inputs["x"], inputs["y"])}


EXAMPLE = Example(
    name="saxpy",
    title="y = a x + y",
    sizes=(0, 1, 255, 256, 257, 1003, 2048),
    large=1 << 20,
    bench=1 << 20,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: size,
)
