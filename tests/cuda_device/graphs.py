"""Graphs whose kernels start early: each reads what the one before it wrote, next to what it reads, in many replays."""

import sys
import time

import numpy as np

import isogrid as ig
from isogrid import In, InOut, Out, w32
from isogrid.dims import N

STEPS = 40
REPLAYS = 100


@ig.kernel(grid=N, block=256)
def around(x: In[w32, N], y: Out[w32, N]) -> None:
    i = ig.gid()
    left = x[i - 1] if i > 0 else x[len(x) - 1]
    right = x[i + 1] if i + 1 < len(x) else x[0]
    y[i] = left * w32(3) + right + w32(1)


@ig.kernel(grid=N, block=256)
def coloured(x: InOut[w32, N], colour: ig.i32) -> None:
    i = ig.gid()
    if i % 2 == colour and 0 < i < len(x) - 1:
        x[i] = x[i - 1] * w32(5) + x[i + 1]


def main() -> int:
    wrong = 0
    for count in (1000, 1 << 14, (1 << 20) + 3):
        start = np.random.default_rng(count).integers(0, 1 << 32, count, dtype=np.uint32)
        x, y, z = ig.array(start, device="cuda"), ig.zeros(count, ig.u32, device="cuda"), ig.array(start, device="cuda")
        with ig.record() as graph:
            for _ in range(STEPS):
                step(x, y)
        began = time.perf_counter()
        step(z, y)
        wrong += int((z.numpy() != after(start)).sum())
        for number in range(STEPS * REPLAYS):
            if number:
                step(z, y)
        for _ in range(REPLAYS):
            graph()
        wrong += int((x.numpy() != z.numpy()).sum())
        seconds = time.perf_counter() - began
        print(f"{count:8} elements, {REPLAYS} replays of {4 * STEPS} kernels: {wrong} wrong, {seconds:.2f} s")
    return min(wrong, 1)


def step(x: ig.Array, y: ig.Array) -> None:
    around(x, y)
    coloured(y, 0)
    coloured(y, 1)
    around(y, x)


def after(x: "np.ndarray[tuple[int], np.dtype[np.uint32]]") -> "np.ndarray[tuple[int], np.dtype[np.uint32]]":
    """One step, by NumPy."""
    y = _around(x)
    for colour in (0, 1):
        inner = np.arange(1, len(y) - 1)
        inner = inner[inner % 2 == colour]
        y[inner] = y[inner - 1] * np.uint32(5) + y[inner + 1]
    return _around(y)


def _around(x: "np.ndarray[tuple[int], np.dtype[np.uint32]]") -> "np.ndarray[tuple[int], np.dtype[np.uint32]]":
    return np.roll(x, 1) * np.uint32(3) + np.roll(x, -1) + np.uint32(1)


if __name__ == "__main__":
    sys.exit(main())
