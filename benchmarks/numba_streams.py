"""Numba forms of the kernels that stream through memory: saxpy, triad, transpose, stencils, life, shortest paths."""

import numpy as np
from numba import prange

from .numba_common import Form, fma, parallel

F0 = np.float32(0)
QUARTER = np.float32(0.25)


@parallel
def saxpy_plain(a, x, y):
    for i in prange(x.size):
        y[i] = a * x[i] + y[i]


@parallel
def saxpy_fused(a, x, y):
    for i in prange(x.size):
        y[i] = fma(a, x[i], y[i])


def saxpy_with(function):
    def prepare(inputs):
        a, x, y = np.float32(inputs["a"]), inputs["x"], inputs["y"].copy()
        return lambda: function(a, x, y), {"y": y}

    return prepare


@parallel
def triad_plain(s, b, c, a):
    for i in prange(a.size):
        a[i] = b[i] + s * c[i]


@parallel
def triad_fused(s, b, c, a):
    for i in prange(a.size):
        a[i] = fma(s, c[i], b[i])


def triad_with(function):
    def prepare(inputs):
        s, b, c = inputs["s"], inputs["b"], inputs["c"]
        a = np.zeros_like(b)
        return lambda: function(s, b, c, a), {"a": a}

    return prepare


@parallel
def transpose_rows(x, y):
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            y[j, i] = x[i, j]


@parallel
def transpose_tiles(x, y):
    height, width = x.shape
    for block in prange((height + 31) // 32):
        tile = np.empty((32, 33), np.float32)
        top = block * 32
        rows = min(32, height - top)
        for left in range(0, width, 32):
            columns = min(32, width - left)
            for i in range(rows):
                for j in range(columns):
                    tile[i, j] = x[top + i, left + j]
            for j in range(columns):
                for i in range(rows):
                    y[left + j, top + i] = tile[i, j]


def transpose_with(function):
    def prepare(inputs):
        x = inputs["x"]
        y = np.zeros(x.shape[::-1], np.float32)
        return lambda: function(x, y), {"y": y}

    return prepare


@parallel
def stencil_inner(x, y):
    for i in prange(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            y[i, j] = QUARTER * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


@parallel
def stencil_guarded(x, y):
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
                y[i, j] = QUARTER * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


def stencil_with(function):
    def prepare(inputs):
        x = inputs["x"]
        y = x.copy()
        return lambda: function(x, y), {"y": y}

    return prepare


@parallel
def life_wrapped(now, after):
    height, width = now.shape
    for i in prange(height):
        up = i - 1 if i > 0 else height - 1
        down = i + 1 if i < height - 1 else 0
        for j in range(width):
            left = j - 1 if j > 0 else width - 1
            right = j + 1 if j < width - 1 else 0
            around = now[up, left] + now[up, j] + now[up, right] + now[i, left] + now[i, right]
            around += now[down, left] + now[down, j] + now[down, right]
            after[i, j] = 1 if around == 3 or (around == 2 and now[i, j] == 1) else 0


@parallel
def life_peeled(now, after):
    height, width = now.shape
    for i in prange(height):
        up = now[i - 1 if i > 0 else height - 1]
        here = now[i]
        down = now[i + 1 if i < height - 1 else 0]
        for j in range(1, width - 1):
            around = up[j - 1] + up[j] + up[j + 1] + here[j - 1] + here[j + 1] + down[j - 1] + down[j] + down[j + 1]
            after[i, j] = (around == 3) | ((around == 2) & (here[j] == 1))
        for j in (0, width - 1):
            left = j - 1 if j > 0 else width - 1
            right = j + 1 if j < width - 1 else 0
            around = up[left] + up[j] + up[right] + here[left] + here[right] + down[left] + down[j] + down[right]
            after[i, j] = (around == 3) | ((around == 2) & (here[j] == 1))


def life_with(function):
    def prepare(inputs):
        now = inputs["now"]
        after = np.zeros_like(now)
        return lambda: function(now, after), {"after": after}

    return prepare


@parallel
def paths_whole(start, distance):
    size = len(start)
    distance[:] = start
    for k in range(size):
        for i in prange(size):
            through = distance[i, k]
            for j in range(size):
                distance[i, j] = min(distance[i, j], through + distance[k, j])


@parallel
def paths_phase(distance, middle):
    for i in prange(len(distance)):
        if i != middle:
            for j in range(len(distance)):
                if j != middle:
                    distance[i, j] = min(distance[i, j], distance[i, middle] + distance[middle, j])


def paths_whole_form(inputs):
    start = inputs["weights"]
    distance = np.empty_like(start)
    return lambda: paths_whole(start, distance), {"distance": distance}


def paths_phase_form(inputs):
    start = inputs["weights"]
    distance = np.empty_like(start)

    def launch():
        distance[:] = start
        for middle in range(len(distance)):
            paths_phase(distance, middle)

    return launch, {"distance": distance}


@parallel
def relax_strided(u, f, minus, colour):
    for i in prange(1, u.shape[0] - 1):
        for j in range(1 + (i + 1 + colour) % 2, u.shape[1] - 1, 2):
            u[i, j] = QUARTER * fma(minus, f[i, j], u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@parallel
def relax_guarded(u, f, minus, colour):
    for i in prange(u.shape[0]):
        for j in range(u.shape[1]):
            if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1 and (i + j) % 2 == colour:
                u[i, j] = QUARTER * fma(minus, f[i, j], u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def relax_with(function):
    def prepare(inputs):
        start, f, minus = inputs["u"], inputs["f"], -np.float32(inputs["spacing2"])
        u = start.copy()

        def launch():
            u[:] = start
            for sweep in range(8):
                function(u, f, minus, sweep % 2)

        return launch, {"u": u}

    return prepare


#: Example name -> (idiomatic, same algorithm).
FORMS = {
    "saxpy": (Form(saxpy_with(saxpy_plain), 1e-6), Form(saxpy_with(saxpy_fused))),
    "triad": (Form(triad_with(triad_plain), 1e-15), Form(triad_with(triad_fused))),
    "transpose": (Form(transpose_with(transpose_rows)), Form(transpose_with(transpose_tiles))),
    "stencil": (Form(stencil_with(stencil_inner)), Form(stencil_with(stencil_guarded))),
    "life": (Form(life_with(life_peeled)), Form(life_with(life_wrapped))),
    "floyd_warshall": (Form(paths_whole_form), Form(paths_phase_form)),
    "gauss_seidel": (Form(relax_with(relax_strided)), Form(relax_with(relax_guarded))),
}
