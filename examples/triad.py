"""STREAM triad in f64: `a = b + s c`, the kernel that measures memory bandwidth."""

from collections.abc import Mapping
from typing import Any

import numpy as np

import isogrid as ig
from gallery import Example, Inputs, Job, Outputs
from isogrid import In, Out, f64
from isogrid.dims import N


@ig.kernel(grid=N, block=256)
def triad(s: f64, b: In[f64, N], c: In[f64, N], a: Out[f64, N]) -> None:
    i = ig.gid()
    a[i] = ig.fma(s, c[i], b[i])


def make_inputs(size: int, seed: int) -> Inputs:
    generator = np.random.default_rng(seed)
    return {"s": 3.1, "b": generator.random(size), "c": generator.random(size)}


def prepare(inputs: Inputs, device: str) -> Job:
    kernel, s, b, c = triad.on(device), inputs["s"], inputs["b"], inputs["c"]
    a = np.zeros_like(b)
    return Job(lambda: kernel(s, b, c, a), {"a": a})


def reference(inputs: Inputs) -> Outputs:
    return {"a": inputs["b"] + inputs["s"] * inputs["c"]}


def allowed(inputs: Inputs) -> Mapping[str, Any]:
    product = np.abs(inputs["s"] * inputs["c"])
    return {"a": 2.0**-53 * (product + 2 * (product + np.abs(inputs["b"]))) * (1 + 2.0**-50)}


EXAMPLE = Example(
    name="triad",
    title="a = b + s c in f64",
    sizes=(0, 1, 255, 256, 257, 1003, 2048),
    large=1 << 20,
    bench=1 << 20,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: size,
    bound="NumPy rounds the product (u |sc|) and the sum (u |sum|), the kernel the sum only (u |sum|); u = 2^-53",
    allowed=allowed,
)
