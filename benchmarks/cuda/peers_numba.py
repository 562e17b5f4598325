"""Programs of the table as Numba's CUDA kernels: one element per thread, the same algorithms as in peers.cu.

Imported only where Numba can compile for CUDA. f32 literals are NumPy scalars: a Python float would compute in f64.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numba import cuda

from benchmarks.cuda.work import line, plane

if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack  # older Numbas look the name up while they compile; NumPy has dropped it

ZERO, QUARTER, HALF, ONE, FOUR = (np.float32(value) for value in (0, 0.25, 0.5, 1, 4))
SOFTENING = np.float32(0.01)


@cuda.jit
def _copy(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]


@cuda.jit
def _shift(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] + ONE


@cuda.jit
def _saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def _triad(s, b, c, a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = b[i] + s * c[i]


@cuda.jit
def _chain(x, y, z):
    i = cuda.grid(1)
    if i < x.size:
        d = x[i] - y[i]
        z[i] = math.sqrt(d * d + ONE) * HALF + x[i]


@cuda.jit
def _stencil(x, y):
    j, i = cuda.grid(2)
    height, width = x.shape
    if 0 < i < height - 1 and 0 < j < width - 1:
        y[i, j] = QUARTER * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


@cuda.jit
def _matmul(a, b, c):
    j, i = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = ZERO
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@cuda.jit
def _nbody(x, y, z, mass, ax, ay, az):
    i = cuda.grid(1)
    if i >= x.size:
        return
    xi, yi, zi = x[i], y[i], z[i]
    sx, sy, sz = ZERO, ZERO, ZERO
    for j in range(x.size):
        dx, dy, dz = x[j] - xi, y[j] - yi, z[j] - zi
        square = dx * dx + (dy * dy + (dz * dz + SOFTENING))
        pull = mass[j] / (square * math.sqrt(square))
        sx += dx * pull
        sy += dy * pull
        sz += dz * pull
    ax[i], ay[i], az[i] = sx, sy, sz


@cuda.jit
def _mandelbrot(left, top, step, limit, count):
    j, i = cuda.grid(2)
    if i >= count.shape[0] or j >= count.shape[1]:
        return
    cx = step * np.float32(j) + left
    cy = step * np.float32(i) + top
    x, y = ZERO, ZERO
    k = np.int32(0)
    while k < limit and x * x + y * y <= FOUR:
        shifted = x * x + (cx - y * y)
        y = (x + x) * y + cy
        x = shifted
        k += np.int32(1)
    count[i, j] = k


@cuda.jit
def _spmv(pointers, columns, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = ZERO
        for k in range(pointers[row], pointers[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


def _launch(
    kernel: Any, names: str, *scalars: Any, block: tuple[int, ...] = (256,)
) -> Callable[[Mapping[str, Any]], Callable[[], None]]:
    """A program of scalars, then arrays; one thread per element of the last array, blocks in rows and columns."""

    def prepare(arrays: Mapping[str, Any]) -> Callable[[], None]:
        views = [cuda.as_cuda_array(arrays[name]) for name in names.split()]
        shape = views[-1].shape
        if len(block) == 1:
            grid, threads = line(shape[0], block[0])
        else:
            grid, threads = plane(*shape, *block)
        ready = kernel[grid, threads]
        return lambda: ready(*scalars, *views)

    return prepare


_SIDE = 8192
#: By the name of the row: arrays to a run.
PROGRAMS: Final = {
    "copy 2^28": _launch(_copy, "x y"),
    "map 2^28": _launch(_shift, "x y"),
    "saxpy 2^28": _launch(_saxpy, "x y", np.float32(0.7)),
    "triad 2^28": _launch(_triad, "b c a", np.float32(3.1)),
    "chain 2^28": _launch(_chain, "x y z"),
    "stencil 16384^2": _launch(_stencil, "x y", block=(8, 32)),
    "saxpy": _launch(_saxpy, "x y", np.float32(0.7)),
    "triad": _launch(_triad, "b c a", 3.1),
    "stencil": _launch(_stencil, "x y", block=(8, 32)),
    "matmul_naive": _launch(_matmul, "a b c", block=(16, 16)),
    "nbody": _launch(_nbody, "x y z mass ax ay az", block=(128,)),
    "mandelbrot": _launch(
        _mandelbrot,
        "count",
        np.float32(-2.0),
        np.float32(-1.2),
        np.float32(2.5 / _SIDE),
        np.int32(256),
        block=(8, 32),
    ),
    "spmv": _launch(_spmv, "pointers columns values x y", block=(128,)),
}
