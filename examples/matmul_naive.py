"""Matrix product, one thread per element of the result, no shared memory."""

import numpy as np

import isogrid as ig
from gallery import Array, Example, Inputs, Job, Outputs, fma32, unit32
from isogrid import In, Out, f32
from isogrid.dims import K, M, N


@ig.kernel(grid=(M, N), block=(16, 16))
def matmul(a: In[f32, M, K], b: In[f32, K, N], c: Out[f32, M, N]) -> None:
    i, j = ig.gids()
    acc = 0.0
    for k in range(a.shape[1]):
        acc = ig.fma(a[i, k], b[k, j], acc)
    c[i, j] = acc


def make_inputs(size: int, seed: int) -> Inputs:
    generator = np.random.default_rng(seed)
    rows, inner = (size + 2, size + 1) if size > 1 else (size, size)
    return {"a": unit32(generator, rows, inner), "b": unit32(generator, inner, size)}


def prepare(inputs: Inputs, device: str) -> Job:
    kernel, a, b = matmul.on(device), inputs["a"], inputs["b"]
    c = np.zeros((a.shape[0], b.shape[1]), np.float32)
    return Job(lambda: kernel(a, b, c), {"c": c})


def reference(inputs: Inputs) -> Outputs:
    a: Array = inputs["a"]
    b: Array = inputs["b"]
    c = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        c = fma32(a[:, k, None], b[None, k], c)
    return {"c": c}


EXAMPLE = Example(
    name="matmul_naive",
    title="matrix product, one thread per element",
    sizes=(0, 1, 15, 16, 17, 19, 24),
    large=200,
    bench=512,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: (size + 2) * size,
)
