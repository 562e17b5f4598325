"""Numba forms of the kernels with inner loops: matrix products, n-body, Mandelbrot, SpMV, Monte Carlo, convolution."""

import math

import numpy as np
from numba import prange

from .numba_common import Form, fma, parallel

F0 = np.float32(0)
SOFTENING = np.float32(0.01)


@parallel
def matmul_ijk(a, b, c):
    for i in prange(a.shape[0]):
        for j in range(b.shape[1]):
            acc = F0
            for k in range(a.shape[1]):
                acc += a[i, k] * b[k, j]
            c[i, j] = acc


@parallel
def matmul_ijk_fused(a, b, c):
    for i in prange(a.shape[0]):
        for j in range(b.shape[1]):
            acc = F0
            for k in range(a.shape[1]):
                acc = fma(a[i, k], b[k, j], acc)
            c[i, j] = acc


@parallel
def matmul_ikj(a, b, c):
    for i in prange(a.shape[0]):
        row = c[i]
        row[:] = F0
        for k in range(a.shape[1]):
            factor = a[i, k]
            for j in range(b.shape[1]):
                row[j] = fma(factor, b[k, j], row[j])


@parallel
def matmul_tiles(a, b, c):
    rows, inner = a.shape
    columns = b.shape[1]
    for block in prange((rows + 15) // 16):
        ta = np.empty((16, 16), np.float32)
        tb = np.empty((16, 16), np.float32)
        acc = np.empty((16, 16), np.float32)
        top = block * 16
        for left in range(0, columns, 16):
            acc[:] = F0
            for first in range(0, inner, 16):
                for y in range(16):
                    for x in range(16):
                        ta[y, x] = a[top + y, first + x] if top + y < rows and first + x < inner else F0
                        tb[y, x] = b[first + y, left + x] if first + y < inner and left + x < columns else F0
                for y in range(16):
                    for k in range(16):
                        factor = ta[y, k]
                        for x in range(16):
                            acc[y, x] = fma(factor, tb[k, x], acc[y, x])
            for y in range(min(16, rows - top)):
                for x in range(min(16, columns - left)):
                    c[top + y, left + x] = acc[y, x]


def matmul_with(function):
    def prepare(inputs):
        a, b = inputs["a"], inputs["b"]
        c = np.zeros((a.shape[0], b.shape[1]), np.float32)
        return lambda: function(a, b, c), {"c": c}

    return prepare


@parallel
def nbody_plain(x, y, z, mass, ax, ay, az):
    for i in prange(x.size):
        xi, yi, zi = x[i], y[i], z[i]
        sx, sy, sz = F0, F0, F0
        for j in range(x.size):
            dx = x[j] - xi
            dy = y[j] - yi
            dz = z[j] - zi
            square = dx * dx + dy * dy + dz * dz + SOFTENING
            pull = mass[j] / (square * math.sqrt(square))
            sx += dx * pull
            sy += dy * pull
            sz += dz * pull
        ax[i] = sx
        ay[i] = sy
        az[i] = sz


@parallel
def nbody_fused(x, y, z, mass, ax, ay, az):
    for i in prange(x.size):
        xi, yi, zi = x[i], y[i], z[i]
        sx, sy, sz = F0, F0, F0
        for j in range(x.size):
            dx = x[j] - xi
            dy = y[j] - yi
            dz = z[j] - zi
            square = fma(dx, dx, fma(dy, dy, fma(dz, dz, SOFTENING)))
            pull = mass[j] / (square * math.sqrt(square))
            sx = fma(dx, pull, sx)
            sy = fma(dy, pull, sy)
            sz = fma(dz, pull, sz)
        ax[i] = sx
        ay[i] = sy
        az[i] = sz


def nbody_with(function):
    def prepare(inputs):
        x, y, z, mass = (inputs[name] for name in ("x", "y", "z", "mass"))
        ax, ay, az = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
        return lambda: function(x, y, z, mass, ax, ay, az), {"ax": ax, "ay": ay, "az": az}

    return prepare


@parallel
def mandelbrot_plain(left, top, step, limit, count):
    four, two = np.float32(4), np.float32(2)
    for i in prange(count.shape[0]):
        for j in range(count.shape[1]):
            cx = step * np.float32(j) + left
            cy = step * np.float32(i) + top
            x, y = F0, F0
            k = 0
            while k < limit and x * x + y * y <= four:
                x, y = x * x - y * y + cx, two * x * y + cy
                k += 1
            count[i, j] = k


@parallel
def mandelbrot_fused(left, top, step, limit, count):
    four, two = np.float32(4), np.float32(2)
    for i in prange(count.shape[0]):
        for j in range(count.shape[1]):
            cx = fma(step, np.float32(j), left)
            cy = fma(step, np.float32(i), top)
            x, y = F0, F0
            k = 0
            while k < limit and fma(x, x, y * y) <= four:
                shifted = fma(x, x, fma(-y, y, cx))
                y = fma(two * x, y, cy)
                x = shifted
                k += 1
            count[i, j] = k


def mandelbrot_with(function):
    def prepare(inputs):
        left, top, step = (np.float32(inputs[name]) for name in ("left", "top", "step"))
        limit, count = inputs["limit"], np.zeros(inputs["shape"], np.int32)
        return lambda: function(left, top, step, limit, count), {"count": count}

    return prepare


@parallel
def spmv_plain(pointers, columns, values, x, y):
    for row in prange(y.size):
        acc = F0
        for k in range(pointers[row], pointers[row + 1]):
            acc += values[k] * x[columns[k]]
        y[row] = acc


@parallel
def spmv_fused(pointers, columns, values, x, y):
    for row in prange(y.size):
        acc = F0
        for k in range(pointers[row], pointers[row + 1]):
            acc = fma(values[k], x[columns[k]], acc)
        y[row] = acc


def spmv_with(function):
    def prepare(inputs):
        pointers, columns, values, x = (inputs[name] for name in ("pointers", "columns", "values", "x"))
        y = np.zeros(len(pointers) - 1, np.float32)
        return lambda: function(pointers, columns, values, x, y), {"y": y}

    return prepare


@parallel
def darts_plain(seed, found):
    scale, one = np.float32(2.0**-24), np.float32(1)
    mask, multiplier, weyl = np.uint64(0xFFFFFFFF), np.uint64(0xD256D193), np.uint64(0x9E3779B9)
    for i in prange(found.size):
        inside = 0
        for dart in range(32):
            left, right, bump = np.uint64(dart), np.uint64(i), np.uint64(seed)
            for _ in range(10):
                product = left * multiplier
                left = (product >> np.uint64(32)) ^ bump ^ right
                right = product & mask
                bump = (bump + weyl) & mask
            x = np.float32(left >> np.uint64(8)) * scale
            y = np.float32(right >> np.uint64(8)) * scale
            if fma(x, x, y * y) < one:
                inside += 1
        found[i] = inside
    return found.sum()


@parallel
def darts_narrow(seed, found):
    scale, one = np.float32(2.0**-24), np.float32(1)
    for i in prange(found.size):
        inside = np.int32(0)
        for dart in range(32):
            left, right, bump = np.uint32(dart), np.uint32(i), np.uint32(seed)
            for _ in range(10):
                product = np.uint64(left) * np.uint64(0xD256D193)
                left = np.uint32(np.uint32(product >> np.uint64(32)) ^ bump ^ right)
                right = np.uint32(product)
                bump = np.uint32(bump + np.uint32(0x9E3779B9))
            x = np.float32(left >> np.uint32(8)) * scale
            y = np.float32(right >> np.uint32(8)) * scale
            if fma(x, x, y * y) < one:
                inside += np.int32(1)
        found[i] = inside
    return found.sum()


def darts_with(function):
    def prepare(inputs):
        seed, found, hits = inputs["seed"], np.zeros(inputs["size"], np.int32), np.zeros(1, np.int64)

        def launch():
            hits[0] = function(seed, found)

        return launch, {"found": found, "hits": hits}

    return prepare


@parallel
def convolve_plain(x, mask, y):
    height, width = x.shape
    for i in prange(height):
        for j in range(width):
            acc = F0
            for r in range(5):
                row = min(max(i + r - 2, 0), height - 1)
                for c in range(5):
                    acc = fma(mask[r, c], x[row, min(max(j + c - 2, 0), width - 1)], acc)
            y[i, j] = acc


@parallel
def convolve_rows(x, mask, y):
    """Rows at a time, so that the inner loop runs along memory; the two columns at each edge apart."""
    height, width = x.shape
    for i in prange(height):
        line = np.zeros(width, np.float32)
        for r in range(5):
            source = x[min(max(i + r - 2, 0), height - 1)]
            for c in range(5):
                weight = mask[r, c]
                for j in range(2, width - 2):
                    line[j] = fma(weight, source[j + c - 2], line[j])
                for j in (0, 1, width - 2, width - 1):
                    line[j] = fma(weight, source[min(max(j + c - 2, 0), width - 1)], line[j])
        y[i] = line


def convolve_with(function):
    def prepare(inputs):
        x, mask = inputs["x"], inputs["mask"]
        y = np.zeros_like(x)
        return lambda: function(x, mask, y), {"y": y}

    return prepare


#: Example name -> (idiomatic, same algorithm).
FORMS = {
    "matmul_naive": (Form(matmul_with(matmul_ijk), 1e-5), Form(matmul_with(matmul_ijk_fused))),
    "matmul_tiled": (Form(matmul_with(matmul_ikj)), Form(matmul_with(matmul_tiles))),
    "nbody": (Form(nbody_with(nbody_plain), 1e-4), Form(nbody_with(nbody_fused))),
    "mandelbrot": (Form(mandelbrot_with(mandelbrot_plain), unequal=0.01), Form(mandelbrot_with(mandelbrot_fused))),
    "spmv": (Form(spmv_with(spmv_plain), 1e-5), Form(spmv_with(spmv_fused))),
    "monte_carlo": (Form(darts_with(darts_plain)), Form(darts_with(darts_narrow))),
    "convolution": (Form(convolve_with(convolve_rows)), Form(convolve_with(convolve_plain))),
}
