"""Matrix product through two tiles in shared memory; sums in the order of the naive one, so the bits agree."""

import numpy as np

import isogrid as ig
from gallery import Example, Inputs, Job
from isogrid import In, Out, f32
from isogrid.dims import K, M, N
from matmul_naive import make_inputs, reference

TILE = 16


@ig.kernel(groups=(ig.cdiv(M, TILE), ig.cdiv(N, TILE)), block=(TILE, TILE))
def matmul(a: In[f32, M, K], b: In[f32, K, N], c: Out[f32, M, N]) -> None:
    ta = ig.shared(f32, (TILE, TILE))
    tb = ig.shared(f32, (TILE, TILE))
    row, col = ig.gids()
    y, x = ig.lids()
    rows, inner = a.shape
    cols = b.shape[1]
    acc = 0.0
    for t in range(ig.cdiv(inner, TILE)):
        ta[y, x] = a[row, t * TILE + x] if row < rows and t * TILE + x < inner else 0.0
        tb[y, x] = b[t * TILE + y, col] if t * TILE + y < inner and col < cols else 0.0
        ig.barrier()
        for k in range(TILE):
            acc = ig.fma(ta[y, k], tb[k, x], acc)
        ig.barrier()
    if row < rows and col < cols:
        c[row, col] = acc


def prepare(inputs: Inputs, device: str) -> Job:
    kernel, a, b = matmul.on(device), inputs["a"], inputs["b"]
    c = np.zeros((a.shape[0], b.shape[1]), np.float32)
    return Job(lambda: kernel(a, b, c), {"c": c})


EXAMPLE = Example(
    name="matmul_tiled",
    title="matrix product through shared tiles",
    sizes=(0, 1, 15, 16, 17, 19, 40),
    large=200,
    bench=512,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: -(-(size + 2) // TILE) * -(-size // TILE) * TILE * TILE,
)
