"""Sparse matrix times vector in CSR, one row per thread. Row pointers and columns are data, so their checks stay."""

import numpy as np

import isogrid as ig
from gallery import Example, Inputs, Job, Outputs, fma32, unit32
from isogrid import In, Out, f32, i32
from isogrid.dims import K, M, R


class R1(ig.Dim, equals=R + 1):
    """Row pointers of R rows."""


@ig.kernel(grid=R, block=128)
def spmv(pointers: In[i32, R1], columns: In[i32, K], values: In[f32, K], x: In[f32, M], y: Out[f32, R]) -> None:
    row = ig.gid()
    acc = 0.0
    for k in range(pointers[row], pointers[row + 1]):
        acc = ig.fma(values[k], x[columns[k]], acc)
    y[row] = acc


def make_inputs(size: int, seed: int) -> Inputs:
    generator = np.random.default_rng(seed)
    lengths = generator.integers(5, 31, size)
    pointers = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    count = int(pointers[-1])
    width = max(size, 1)
    return {
        "pointers": pointers,
        "columns": generator.integers(0, width, count, dtype=np.int32),
        "values": unit32(generator, count),
        "x": unit32(generator, width),
    }


def prepare(inputs: Inputs, device: str) -> Job:
    kernel = spmv.on(device)
    pointers, columns, values, x = (inputs[name] for name in ("pointers", "columns", "values", "x"))
    y = np.zeros(len(pointers) - 1, np.float32)
    return Job(lambda: kernel(pointers, columns, values, x, y), {"y": y})


def reference(inputs: Inputs) -> Outputs:
    pointers, columns, values, x = (inputs[name] for name in ("pointers", "columns", "values", "x"))
    starts, lengths = pointers[:-1], np.diff(pointers)
    y = np.zeros(len(starts), np.float32)
    for k in range(lengths.max(initial=0)):
        rows = np.nonzero(k < lengths)[0]
        at = starts[rows] + k
        y[rows] = fma32(values[at], x[columns[at]], y[rows])
    return {"y": y}


EXAMPLE = Example(
    name="spmv",
    title="sparse matrix times vector (CSR)",
    sizes=(0, 1, 127, 128, 129, 203, 300),
    large=50_000,
    bench=100_000,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: size,
)
