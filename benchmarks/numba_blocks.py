"""Numba forms of reductions, scan, histogram, sort, FFT and the photo pipeline."""

import math
from itertools import pairwise

import numpy as np
from numba import get_num_threads, prange

from .numba_common import Form, fma, parallel, serial

F0 = np.float32(0)


@parallel
def sum_plain(x):
    acc = F0
    for i in prange(x.size):
        acc += x[i]
    return acc


@parallel
def sum_tree(x, sums):
    for group in prange(sums.size):
        tile = np.zeros(256, np.float32)
        for k in range(4):
            first = group * 1024 + k * 256
            for t in range(min(256, x.size - first)):
                tile[t] += x[first + t]
        half = 128
        while half > 0:
            for t in range(half):
                tile[t] += tile[t + half]
            half //= 2
        sums[group] = tile[0]


def sum_plain_form(inputs):
    x, out = inputs["x"], np.zeros(1, np.float32)

    def launch():
        out[0] = sum_plain(x)

    return launch, {"sum": out}


def levels_form(function, chunk, name):
    """The same kernel on the data, on its partial results, and so on down to one."""

    def prepare(inputs):
        buffers = [inputs["x"]]
        while len(buffers) == 1 or len(buffers[-1]) > 1:
            buffers.append(np.zeros(-(-len(buffers[-1]) // chunk), np.float32))

        def launch():
            for source, target in pairwise(buffers):
                function(source, target)

        return launch, {name: buffers[-1]}

    return prepare


@parallel
def max_plain(x):
    greatest = np.float32(-np.inf)
    for i in prange(x.size):
        greatest = max(greatest, x[i])
    return greatest


@parallel
def max_tree(x, maxima):
    for group in prange(maxima.size):
        first = group * 256
        tile = np.full(256, -np.inf, np.float32)
        for t in range(min(256, x.size - first)):
            tile[t] = x[first + t]
        half = 128
        while half > 0:
            for t in range(half):
                tile[t] = max(tile[t], tile[t + half])
            half //= 2
        maxima[group] = tile[0]


def max_plain_form(inputs):
    x, out = inputs["x"], np.zeros(1, np.float32)

    def launch():
        out[0] = max_plain(x)

    return launch, {"max": out}


@parallel
def dot_plain(x, y):
    acc = F0
    for i in prange(x.size):
        acc += x[i] * y[i]
    return acc


@parallel
def dot_tree(x, y, sums):
    for group in prange(sums.size):
        tile = np.zeros(256, np.float32)
        for k in range(4):
            first = group * 1024 + k * 256
            for t in range(min(256, x.size - first)):
                tile[t] = fma(x[first + t], y[first + t], tile[t])
        half = 128
        while half > 0:
            for t in range(half):
                tile[t] += tile[t + half]
            half //= 2
        sums[group] = tile[0]


@serial
def total_of(parts):
    tile = np.zeros(256, np.float32)
    for i in range(parts.size):
        tile[i % 256] += parts[i]
    half = 128
    while half > 0:
        for t in range(half):
            tile[t] += tile[t + half]
        half //= 2
    return tile[0]


def dot_plain_form(inputs):
    x, y, out = inputs["x"], inputs["y"], np.zeros(1, np.float32)

    def launch():
        out[0] = dot_plain(x, y)

    return launch, {"dot": out}


def dot_tree_form(inputs):
    x, y, out = inputs["x"], inputs["y"], np.zeros(1, np.float32)
    parts = np.zeros(-(-len(x) // 1024), np.float32)

    def launch():
        dot_tree(x, y, parts)
        out[0] = total_of(parts)

    return launch, {"dot": out}


@parallel
def scan_chunks(x, y, chunk):
    """One chunk per thread: scan, then add what precedes."""
    chunks = (x.size + chunk - 1) // chunk
    totals = np.zeros(chunks, np.int32)
    for part in prange(chunks):
        acc = np.int32(0)
        for i in range(part * chunk, min((part + 1) * chunk, x.size)):
            acc += x[i]
            y[i] = acc
        totals[part] = acc
    for part in range(1, chunks):
        totals[part] += totals[part - 1]
    for part in prange(1, chunks):
        for i in range(part * chunk, min((part + 1) * chunk, x.size)):
            y[i] += totals[part - 1]


def scan_with(chunk_of):
    def prepare(inputs):
        x = inputs["x"]
        y = np.zeros_like(x)
        chunk = chunk_of(len(x))
        return lambda: scan_chunks(x, y, chunk), {"y": y}

    return prepare


@parallel
def histogram_threads(x, bins, parts):
    chunk = (x.size + parts - 1) // parts
    private = np.zeros((parts, 256), np.int32)
    for part in prange(parts):
        mine = private[part]
        for i in range(part * chunk, min((part + 1) * chunk, x.size)):
            mine[x[i]] += 1
    bins[:] = 0
    for part in range(parts):
        for value in range(256):
            bins[value] += private[part, value]


def histogram_with(parts_of):
    def prepare(inputs):
        x, bins = inputs["x"], np.zeros(256, np.int32)
        parts = parts_of(len(x))
        return lambda: histogram_threads(x, bins, parts), {"bins": bins}

    return prepare


@serial
def sort_plain(keys, result):
    result[:] = np.sort(keys)


@parallel
def sort_step(x, length, stride):
    for t in prange(x.size // 2):
        low = 2 * stride * (t // stride) + t % stride
        a, b = x[low], x[low + stride]
        if (a > b) == (low // length % 2 == 0):
            x[low], x[low + stride] = b, a


def sort_plain_form(inputs):
    keys = inputs["keys"]
    result = np.empty_like(keys)
    return lambda: sort_plain(keys, result), {"sorted": result}


def sort_bitonic_form(inputs):
    keys = inputs["keys"]
    result = np.empty_like(keys)
    padded = np.empty(max(512, 1 << max(len(keys) - 1, 0).bit_length()), np.uint32)

    def launch():
        padded[: len(keys)] = keys
        padded[len(keys) :] = np.iinfo(np.uint32).max
        length = 2
        while length <= len(padded):
            stride = length // 2
            while stride:
                sort_step(padded, length, stride)
                stride //= 2
            length *= 2
        result[:] = padded[: len(keys)]

    return launch, {"sorted": result}


@parallel
def butterflies_flat(re, im, cos, sin, to_re, to_im, stride):
    half = cos.size
    for t in prange(half):
        p, q = t // stride, t % stride
        low = q + 2 * stride * p
        d_re, d_im = re[t] - re[t + half], im[t] - im[t + half]
        c, s = cos[stride * p], sin[stride * p]
        to_re[low], to_im[low] = re[t] + re[t + half], im[t] + im[t + half]
        to_re[low + stride] = fma(d_re, c, -(d_im * s))
        to_im[low + stride] = fma(d_re, s, d_im * c)


@serial
def one_butterfly(re, im, cos, sin, to_re, to_im, stride, p, first, last):
    half = cos.size
    c, s = cos[stride * p], sin[stride * p]
    for q in range(first, last):
        t = stride * p + q
        low = q + 2 * stride * p
        d_re, d_im = re[t] - re[t + half], im[t] - im[t + half]
        to_re[low], to_im[low] = re[t] + re[t + half], im[t] + im[t + half]
        to_re[low + stride] = fma(d_re, c, -(d_im * s))
        to_im[low + stride] = fma(d_re, s, d_im * c)


@parallel
def butterflies_nested(re, im, cos, sin, to_re, to_im, stride):
    """Along memory: many short runs while the stride is small, pieces of the long ones later."""
    half = cos.size
    runs = half // stride
    if runs >= 64:
        for p in prange(runs):
            one_butterfly(re, im, cos, sin, to_re, to_im, stride, p, 0, stride)
    else:
        pieces = 8
        for job in prange(runs * pieces):
            p, piece = job // pieces, job % pieces
            one_butterfly(
                re, im, cos, sin, to_re, to_im, stride, p, piece * stride // pieces, (piece + 1) * stride // pieces
            )


def fft_with(function):
    def prepare(inputs):
        length = len(inputs["re"])
        angles = -2 * np.pi * np.arange(length // 2) / max(length, 1)
        cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        buffers = [[np.empty_like(inputs["re"]) for _ in range(2)] for _ in range(2)]
        stages = max(length.bit_length() - 1, 0)

        def launch():
            buffers[0][0][:], buffers[0][1][:] = inputs["re"], inputs["im"]
            for stage in range(stages):
                (re, im), (to_re, to_im) = buffers[stage % 2], buffers[1 - stage % 2]
                function(re, im, cos, sin, to_re, to_im, 1 << stage)

        return launch, {"re": buffers[stages % 2][0], "im": buffers[stages % 2][1]}

    return prepare


@parallel
def photo_grey(photo, light, shade):
    r, g, b = np.float32(0.299), np.float32(0.587), np.float32(0.114)
    for i in prange(photo.shape[0]):
        for j in range(photo.shape[1]):
            value = fma(
                r, np.float32(photo[i, j, 0]), fma(g, np.float32(photo[i, j, 1]), b * np.float32(photo[i, j, 2]))
            )
            light[i, j] = value
            shade[i, j] = np.uint8(min(max(np.rint(value), F0), np.float32(255)))


@parallel
def photo_blur(x, weights, rows, y):
    height, width = x.shape
    for i in prange(height):
        for j in range(width):
            acc = F0
            for k in range(5):
                acc = fma(weights[k], x[i, min(max(j + k - 2, 0), width - 1)], acc)
            rows[i, j] = acc
    for i in prange(height):
        for j in range(width):
            acc = F0
            for k in range(5):
                acc = fma(weights[k], rows[min(max(i + k - 2, 0), height - 1), j], acc)
            y[i, j] = acc


@parallel
def photo_sobel(x, edges):
    two = np.float32(2)
    height, width = x.shape
    for i in prange(height):
        up, down = max(i - 1, 0), min(i + 1, height - 1)
        for j in range(width):
            left, right = max(j - 1, 0), min(j + 1, width - 1)
            dx = fma(two, x[i, right] - x[i, left], (x[up, right] - x[up, left]) + (x[down, right] - x[down, left]))
            dy = fma(two, x[down, j] - x[up, j], (x[down, left] - x[up, left]) + (x[down, right] - x[up, right]))
            edges[i, j] = np.uint8(min(math.sqrt(fma(dx, dx, dy * dy)), np.float32(255)))


@parallel
def photo_equalise(shade, bins, equal):
    total = shade.size
    below = 0
    level = np.zeros(256, np.uint8)
    for value in range(256):
        below += bins[value]
        level[value] = (below * 255 + total // 2) // total
    for i in prange(shade.shape[0]):
        for j in range(shade.shape[1]):
            equal[i, j] = level[shade[i, j]]


def photo_with(parts_of):
    def prepare(inputs):
        photo = inputs["photo"]
        shape = photo.shape[:2]
        weights = np.array([1, 4, 6, 4, 1], np.float32) / np.float32(16)
        light, rows, smooth = (np.zeros(shape, np.float32) for _ in range(3))
        shade, edges, equal = (np.zeros(shape, np.uint8) for _ in range(3))
        bins, flat = np.zeros(256, np.int32), shade.reshape(-1)
        parts = parts_of(flat.size)

        def launch():
            photo_grey(photo, light, shade)
            photo_blur(light, weights, rows, smooth)
            photo_sobel(smooth, edges)
            histogram_threads(flat, bins, parts)
            photo_equalise(shade, bins, equal)

        return launch, {"edges": edges, "equal": equal}

    return prepare


def per_thread(size):
    return get_num_threads()


def per_4096(size):
    return max(1, -(-size // 4096))


#: Example name -> (idiomatic, same algorithm).
FORMS = {
    "reduce_sum": (Form(sum_plain_form, 1e-2), Form(levels_form(sum_tree, 1024, "sum"))),
    "reduce_max": (Form(max_plain_form), Form(levels_form(max_tree, 256, "max"))),
    "dot": (Form(dot_plain_form, 1e-2), Form(dot_tree_form)),
    "scan": (Form(scan_with(lambda size: -(-size // get_num_threads()))), Form(scan_with(lambda size: 256))),
    "histogram": (Form(histogram_with(per_thread)), Form(histogram_with(per_4096))),
    "bitonic": (Form(sort_plain_form), Form(sort_bitonic_form)),
    "fft": (Form(fft_with(butterflies_nested)), Form(fft_with(butterflies_flat))),
    "photo": (Form(photo_with(per_thread)), Form(photo_with(per_4096))),
}
