"""Escape times of the Mandelbrot set: neighbouring threads leave their loops after different numbers of steps."""

import numpy as np

import isogrid as ig
from gallery import Array, Example, Inputs, Job, Outputs, fma32
from isogrid import Out, f32, i32
from isogrid.dims import H, W


@ig.kernel(grid=(H, W), block=(8, 32))
def mandelbrot(left: f32, top: f32, step: f32, limit: i32, count: Out[i32, H, W]) -> None:
    i, j = ig.gids()
    cx = ig.fma(step, f32(j), left)
    cy = ig.fma(step, f32(i), top)
    x, y = 0.0, 0.0
    k = i32(0)
    while k < limit and ig.fma(x, x, y * y) <= 4.0:
        shifted = ig.fma(x, x, ig.fma(-y, y, cx))
        y = ig.fma(2.0 * x, y, cy)
        x = shifted
        k += 1
    count[i, j] = k


def make_inputs(size: int, seed: int) -> Inputs:
    rows = size // 2 if size > 1 else size
    return {
        "left": -2.0 + seed * 2.0**-20,
        "top": -1.2,
        "step": 2.5 / max(size, 1),
        "limit": 256,
        "shape": (rows, size),
    }


def prepare(inputs: Inputs, device: str) -> Job:
    kernel = mandelbrot.on(device)
    left, top, step, limit = (inputs[name] for name in ("left", "top", "step", "limit"))
    count = np.zeros(inputs["shape"], np.int32)
    return Job(lambda: kernel(left, top, step, limit, count), {"count": count})


def reference(inputs: Inputs) -> Outputs:
    height, width = inputs["shape"]
    step = np.float32(inputs["step"])
    rows: Array = np.arange(height, dtype=np.float32)[:, None]
    columns: Array = np.arange(width, dtype=np.float32)[None]
    cx = np.broadcast_to(fma32(step, columns, inputs["left"]), (height, width))
    cy = np.broadcast_to(fma32(step, rows, inputs["top"]), (height, width))
    x, y = np.zeros((height, width), np.float32), np.zeros((height, width), np.float32)
    count = np.zeros((height, width), np.int32)
    with np.errstate(all="ignore"):
        for _ in range(inputs["limit"]):
            inside = fma32(x, x, y * y) <= 4.0
            if not inside.any():
                break
            shifted = fma32(x, x, fma32(-y, y, cx))
            x, y = np.where(inside, shifted, x), np.where(inside, fma32(2 * x, y, cy), y)
            count += inside
    return {"count": count}


EXAMPLE = Example(
    name="mandelbrot",
    title="Mandelbrot escape times",
    sizes=(0, 1, 31, 32, 33, 43, 48),
    large=400,
    bench=1024,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: (size // 2 if size > 1 else size) * size,
)
