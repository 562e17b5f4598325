"""A photograph through six kernels: grey, Gaussian blur (rows, columns), Sobel edges, histogram, equalisation."""

import math
from pathlib import Path
from typing import Literal

import numpy as np

import isogrid as ig
from gallery import Array, Example, Inputs, Job, Outputs, fma32
from isogrid import In, InOut, Out, f32, i32, i64, u8
from isogrid.dims import H, W

WEIGHTS = np.array([1, 4, 6, 4, 1], np.float32) / np.float32(16)
WEIGHTS.flags.writeable = False


@ig.kernel(grid=(H, W), block=(8, 32))
def grey(photo: In[u8, H, W, Literal[3]], light: Out[f32, H, W], shade: Out[u8, H, W]) -> None:
    """Brightness by ITU-R BT.601, as a float and as the nearest byte."""
    i, j = ig.gids()
    r, g, b = f32(photo[i, j, 0]), f32(photo[i, j, 1]), f32(photo[i, j, 2])
    value = ig.fma(0.299, r, ig.fma(0.587, g, 0.114 * b))
    light[i, j] = value
    shade[i, j] = ig.saturate(u8, round(value))


@ig.kernel(grid=(H, W), block=(8, 32))
def blur_rows(x: In[f32, H, W], y: Out[f32, H, W]) -> None:
    i, j = ig.gids()
    acc = 0.0
    for k in range(5):
        acc = ig.fma(WEIGHTS[k], x[i, ig.clamp(j + k - 2, 0, x.shape[1] - 1)], acc)
    y[i, j] = acc


@ig.kernel(grid=(H, W), block=(8, 32))
def blur_columns(x: In[f32, H, W], y: Out[f32, H, W]) -> None:
    i, j = ig.gids()
    acc = 0.0
    for k in range(5):
        acc = ig.fma(WEIGHTS[k], x[ig.clamp(i + k - 2, 0, x.shape[0] - 1), j], acc)
    y[i, j] = acc


@ig.kernel(grid=(H, W), block=(8, 32))
def sobel(x: In[f32, H, W], edges: Out[u8, H, W]) -> None:
    """Length of the gradient; edges of the picture repeat the nearest pixel."""
    i, j = ig.gids()
    up, down = max(i - 1, 0), min(i + 1, x.shape[0] - 1)
    left, right = max(j - 1, 0), min(j + 1, x.shape[1] - 1)
    dx = ig.fma(2.0, x[i, right] - x[i, left], (x[up, right] - x[up, left]) + (x[down, right] - x[down, left]))
    dy = ig.fma(2.0, x[down, j] - x[up, j], (x[down, left] - x[up, left]) + (x[down, right] - x[up, right]))
    edges[i, j] = ig.saturate(u8, math.sqrt(ig.fma(dx, dx, dy * dy)))


@ig.kernel(grid=256, block=256)
def clear(bins: Out[i32, Literal[256]]) -> None:
    bins[ig.gid()] = 0


@ig.kernel(grid=(H, W), block=(8, 32))
def count_shades(shade: In[u8, H, W], bins: InOut[i32, Literal[256]]) -> None:
    local = ig.shared(i32, 256)
    i, j = ig.gids()
    if i < shade.shape[0] and j < shade.shape[1]:
        ig.atomic_add(local, shade[i, j], 1)
    ig.barrier()
    ig.atomic_add(bins, ig.lid(), local[ig.lid()])


@ig.kernel(groups=1, block=256)
def spread(bins: In[i32, Literal[256]], level: Out[u8, Literal[256]]) -> None:
    """For every shade the share of pixels that are not lighter, on a scale of 255."""
    count = bins[ig.lid()]
    below = ig.group_scan(count)
    total = ig.group_sum(count)
    level[ig.lid()] = (i64(below) * 255 + i64(total) // 2) // max(i64(total), 1)


@ig.kernel(grid=(H, W), block=(8, 32))
def equalise(shade: In[u8, H, W], level: In[u8, Literal[256]], result: Out[u8, H, W]) -> None:
    i, j = ig.gids()
    result[i, j] = level[shade[i, j]]


def photograph() -> Array:
    """A cup of coffee by Rachel Michetti (CC0), 400 by 600 pixels, from the scikit-image wheel."""
    import skimage
    from PIL import Image

    file = Path(skimage.__file__).parent / "data" / "coffee.png"
    with Image.open(file) as picture:
        return np.asarray(picture.convert("RGB"))


def make_inputs(size: int, seed: int) -> Inputs:
    """A part of the photograph, `size` wide; wider ones repeat it."""
    rows = size + 1 if size > 1 else size
    photo = photograph()
    whole = np.tile(photo, (-(-rows // photo.shape[0]) or 1, -(-size // photo.shape[1]) or 1, 1))
    start = seed * 7 % 50 if rows < 300 else 0
    return {"photo": np.ascontiguousarray(whole[start : start + rows, start : start + size])}


def prepare(inputs: Inputs, device: str) -> Job:
    photo: Array = inputs["photo"]
    shape = photo.shape[:2]
    light, rows, smooth = (np.zeros(shape, np.float32) for _ in range(3))
    shade, edges, equal = (np.zeros(shape, np.uint8) for _ in range(3))
    bins, level = np.zeros(256, np.int32), np.zeros(256, np.uint8)
    on = {
        kernel: kernel.on(device)
        for kernel in (grey, blur_rows, blur_columns, sobel, clear, count_shades, spread, equalise)
    }

    def launch() -> None:
        on[grey](photo, light, shade)
        on[blur_rows](light, rows)
        on[blur_columns](rows, smooth)
        on[sobel](smooth, edges)
        on[clear](bins)
        on[count_shades](shade, bins)
        on[spread](bins, level)
        on[equalise](shade, level, equal)

    return Job(launch, {"edges": edges, "equal": equal})


def reference(inputs: Inputs) -> Outputs:
    photo = inputs["photo"]
    if photo.size == 0:
        empty = np.zeros(photo.shape[:2], np.uint8)
        return {"edges": empty, "equal": empty}
    r, g, b = (photo[..., channel].astype(np.float32) for channel in range(3))
    light = fma32(np.float32(0.299), r, fma32(np.float32(0.587), g, np.float32(0.114) * b))
    smooth = blur_reference(blur_reference(light).T).T
    shade = np.clip(np.rint(light), 0, 255).astype(np.uint8)
    below = np.cumsum(np.bincount(shade.reshape(-1), minlength=256))
    level = ((below * 255 + shade.size // 2) // shade.size).astype(np.uint8)
    return {"edges": sobel_reference(smooth), "equal": level[shade]}


def blur_reference(x: Array) -> Array:
    padded = np.pad(x, ((0, 0), (2, 2)), mode="edge")
    acc = np.zeros_like(x)
    for k in range(5):
        acc = fma32(WEIGHTS[k], padded[:, k : k + x.shape[1]], acc)
    return acc


def sobel_reference(x: Array) -> Array:
    p = np.pad(x, 1, mode="edge")
    up, middle, down = p[:-2], p[1:-1], p[2:]
    dx = fma32(2, middle[:, 2:] - middle[:, :-2], (up[:, 2:] - up[:, :-2]) + (down[:, 2:] - down[:, :-2]))
    dy = fma32(2, down[:, 1:-1] - up[:, 1:-1], (down[:, :-2] - up[:, :-2]) + (down[:, 2:] - up[:, 2:]))
    return np.clip(np.sqrt(fma32(dx, dx, dy * dy)), 0, 255).astype(np.uint8)


EXAMPLE = Example(
    name="photo",
    title="photo pipeline: grey, blur, edges, equalise",
    sizes=(0, 1, 31, 32, 33, 43, 50),
    large=600,
    bench=1024,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: 6 * (size + 1) * size,
)
