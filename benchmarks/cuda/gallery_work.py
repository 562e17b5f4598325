"""The gallery at sizes that fill the card, with the launches of the same algorithm in peers.cu."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.cuda.work import Call, Launch, Work, blocks, example, f32, f64, i32, i64, line, plane

MIB = 1 << 20


def _random(shape: Any, dtype: Any = np.float32, seed: int = 1) -> Any:
    return np.random.default_rng(seed).random(shape, dtype=dtype)


def _saxpy() -> Work:
    n = 64 * MIB
    return Work(
        "saxpy",
        {"x": _random(n), "y": _random(n, seed=2)},
        [Call(example("saxpy", "saxpy"), (0.7, "x", "y"))],
        [Launch("saxpy", *line(n), (f32(0.7), "x", "y", i32(n)))],
        ["y"],
        12.0 * n,
        "B",
    )


def _triad() -> Work:
    n = 32 * MIB
    return Work(
        "triad",
        {"b": _random(n, np.float64), "c": _random(n, np.float64, 2), "a": np.zeros(n)},
        [Call(example("triad", "triad"), (3.1, "b", "c", "a"))],
        [Launch("triad", *line(n), (f64(3.1), "b", "c", "a", i32(n)))],
        ["a"],
        24.0 * n,
        "B",
    )


def _transpose() -> Work:
    n = 8192
    return Work(
        "transpose",
        {"x": _random((n, n)), "y": np.zeros((n, n), np.float32)},
        [Call(example("transpose", "transpose"), ("x", "y"))],
        [Launch("transpose", (n // 32, n // 32, 1), (32, 8, 1), ("x", "y", i32(n), i32(n)))],
        ["y"],
        8.0 * n * n,
        "B",
    )


def _matmul(name: str, kernel: Any, block: int) -> Work:
    n = 2048
    arrays = {"a": _random((n, n)), "b": _random((n, n), seed=2), "c": np.zeros((n, n), np.float32)}
    grid, threads = plane(n, n, block, block)
    return Work(
        name,
        arrays,
        [Call(kernel, ("a", "b", "c"))],
        [Launch(name, grid, threads, ("a", "b", "c", i32(n), i32(n), i32(n)))],
        ["c"],
        2.0 * n**3,
        "FLOP",
    )


def _matmul_naive() -> Work:
    return _matmul("matmul_naive", example("matmul_naive", "matmul"), 16)


def _matmul_tiled() -> Work:
    return _matmul("matmul_tiled", example("matmul_tiled", "matmul"), 16)


def _reduce_sum() -> Work:
    n = 64 * MIB
    contents: dict[str, Any] = {"p0": _random(n)}
    ours, theirs, length = [], [], n
    for number, after in enumerate(example("reduce_sum", "levels")(n), 1):
        contents[f"p{number}"] = np.zeros(after, np.float32)
        ours.append(Call(example("reduce_sum", "partial_sums"), (f"p{number - 1}", f"p{number}")))
        shape = ((after, 1, 1), (256, 1, 1))
        theirs.append(Launch("reduce_sum", *shape, (f"p{number - 1}", f"p{number}", i32(length))))
        length = after
    return Work("reduce_sum", contents, ours, theirs, [f"p{len(ours)}"], 4.0 * n, "B")


def _reduce_max() -> Work:
    n = 64 * MIB
    contents: dict[str, Any] = {"p0": _random(n)}
    ours, theirs, length = [], [], n
    for number, after in enumerate(example("reduce_max", "levels")(n), 1):
        contents[f"p{number}"] = np.zeros(after, np.float32)
        ours.append(Call(example("reduce_max", "partial_maxima"), (f"p{number - 1}", f"p{number}")))
        shape = ((after, 1, 1), (256, 1, 1))
        theirs.append(Launch("reduce_max", *shape, (f"p{number - 1}", f"p{number}", i32(length))))
        length = after
    return Work("reduce_max", contents, ours, theirs, [f"p{len(ours)}"], 4.0 * n, "B")


def _dot() -> Work:
    n = 64 * MIB
    parts = blocks(n, 1024)
    return Work(
        "dot",
        {
            "x": _random(n),
            "y": _random(n, seed=2),
            "parts": np.zeros(parts, np.float32),
            "total": np.zeros(1, np.float32),
        },
        [
            Call(example("dot", "partial_dots"), ("x", "y", "parts")),
            Call(example("dot", "total_of"), ("parts", "total")),
        ],
        [
            Launch("partial_dots", (parts, 1, 1), (256, 1, 1), ("x", "y", "parts", i32(n))),
            Launch("total_of", (1, 1, 1), (256, 1, 1), ("parts", "total", i32(parts))),
        ],
        ["total"],
        8.0 * n,
        "B",
    )


def _scan() -> Work:
    n = 64 * MIB
    contents: dict[str, Any] = {"x0": np.random.default_rng(1).integers(-9, 9, n, dtype=np.int32)}
    lengths = [n]
    while "y0" not in contents or lengths[-1] > 1:
        level, length = len(lengths) - 1, lengths[-1]
        contents[f"y{level}"] = np.zeros(length, np.int32)
        contents[f"x{level + 1}"] = np.zeros(blocks(length, 256), np.int32)
        lengths.append(blocks(length, 256))
    ours, theirs = [], []
    for level, length in enumerate(lengths[:-1]):
        names = (f"x{level}", f"y{level}", f"x{level + 1}")
        ours.append(Call(example("scan", "scan_blocks"), names))
        theirs.append(Launch("scan_blocks", *line(length), (*names, i32(length))))
    for level in range(len(lengths) - 3, -1, -1):
        names = (f"y{level}", f"y{level + 1}")
        ours.append(Call(example("scan", "add_preceding"), names))
        theirs.append(Launch("add_preceding", *line(lengths[level]), (*names, i32(lengths[level]))))
    return Work("scan", contents, ours, theirs, ["y0"], 16.0 * n, "B")


def _histogram() -> Work:
    n = 256 * MIB
    values = np.random.default_rng(1).integers(0, 256, n, dtype=np.uint8)
    return Work(
        "histogram",
        {"x": values, "bins": np.zeros(256, np.int32)},
        [Call(example("histogram", "clear"), ("bins",)), Call(example("histogram", "histogram"), ("x", "bins"))],
        [
            Launch("clear_i32", (1, 1, 1), (256, 1, 1), ("bins", i32(256))),
            Launch("histogram", (blocks(n, 4096), 1, 1), (256, 1, 1), ("x", "bins", i32(n))),
        ],
        ["bins"],
        1.0 * n,
        "B",
    )


def _stencil() -> Work:
    n = 8192
    x = _random((n, n))
    return Work(
        "stencil",
        {"x": x, "y": x},
        [Call(example("stencil", "stencil"), ("x", "y"))],
        [Launch("stencil", *plane(n, n), ("x", "y", i32(n), i32(n)))],
        ["y"],
        8.0 * n * n,
        "B",
    )


def _convolution() -> Work:
    n = 8192
    return Work(
        "convolution",
        {"x": _random((n, n)), "mask": _random((5, 5), seed=2), "y": np.zeros((n, n), np.float32)},
        [Call(example("convolution", "convolve"), ("x", "mask", "y"))],
        [Launch("convolve", *plane(n, n, 16, 16), ("x", "mask", "y", i32(n), i32(n)))],
        ["y"],
        8.0 * n * n,
        "B",
    )


def _life() -> Work:
    n = 16384
    now = np.random.default_rng(1).integers(0, 2, (n, n), dtype=np.uint8)
    return Work(
        "life",
        {"now": now, "after": np.zeros_like(now)},
        [Call(example("life", "generation"), ("now", "after"))],
        [Launch("life", *plane(n, n), ("now", "after", i32(n), i32(n)))],
        ["after"],
        2.0 * n * n,
        "B",
    )


def _nbody() -> Work:
    n = 65536
    names = ("x", "y", "z", "mass", "ax", "ay", "az")
    contents = {name: _random(n, seed=number) for number, name in enumerate(names)}
    return Work(
        "nbody",
        contents,
        [Call(example("nbody", "accelerations"), names)],
        [Launch("nbody", *line(n, 128), (*names, i32(n)))],
        ["ax", "ay", "az"],
        20.0 * n * n,
        "FLOP",
        bar=0.98,
        allowed=1e-3,
    )


def _mandelbrot() -> Work:
    n = 8192
    numbers = (-2.0, -1.2, 2.5 / n, 256)
    left, top, step, limit = numbers
    return Work(
        "mandelbrot",
        {"count": np.zeros((n, n), np.int32)},
        [Call(example("mandelbrot", "mandelbrot"), (*numbers, "count"))],
        [Launch("mandelbrot", *plane(n, n), (f32(left), f32(top), f32(step), i32(limit), "count", i32(n), i32(n)))],
        ["count"],
        1.0 * n * n,
        "pixel",
        bar=0.98,
        allowed=1.0,
    )


def _bitonic() -> Work:
    n = 16 * MIB
    keys = np.random.default_rng(1).integers(0, 1 << 32, n, dtype=np.uint32)
    groups = ((n // 512, 1, 1), (256, 1, 1))
    ours, theirs = [Call(example("bitonic", "sort_spans"), ("x",))], [Launch("sort_spans", *groups, ("x", i32(n)))]
    length = 1024
    while length <= n:
        stride = length // 2
        while stride >= 512:
            ours.append(Call(example("bitonic", "exchange"), ("x", length, stride)))
            theirs.append(Launch("exchange", *line(n // 2), ("x", i64(length), i64(stride), i32(n))))
            stride //= 2
        ours.append(Call(example("bitonic", "merge_spans"), ("x", length)))
        theirs.append(Launch("merge_spans", *groups, ("x", i64(length), i32(n))))
        length *= 2
    return Work("bitonic", {"x": keys}, ours, theirs, ["x"], 1.0 * n, "key")


def _spmv() -> Work:
    rows, each = 4 * MIB, 16
    generator = np.random.default_rng(1)
    count = rows * each
    contents = {
        "pointers": np.arange(0, count + 1, each, dtype=np.int32),
        "columns": generator.integers(0, rows, count, dtype=np.int32),
        "values": _random(count),
        "x": _random(rows, seed=2),
        "y": np.zeros(rows, np.float32),
    }
    return Work(
        "spmv",
        contents,
        [Call(example("spmv", "spmv"), ("pointers", "columns", "values", "x", "y"))],
        [Launch("spmv", *line(rows, 128), ("pointers", "columns", "values", "x", "y", i32(rows)))],
        ["y"],
        8.0 * count + 8.0 * rows,
        "B",
    )


def _floyd() -> Work:
    n, vertices = 4096, 256
    weights = _random((n, n))
    np.fill_diagonal(weights, 0)
    return Work(
        "floyd_warshall",
        {"d": weights},
        [Call(example("floyd_warshall", "relax"), ("d", middle)) for middle in range(vertices)],
        [Launch("floyd", *plane(n, n), ("d", i32(middle), i32(n))) for middle in range(vertices)],
        ["d"],
        8.0 * n * n * vertices,
        "B",
    )


def _fft() -> Work:
    n = 1 << 24
    half = n // 2
    angles = -2 * np.pi * np.arange(half) / n
    contents = {
        "cos": np.cos(angles).astype(np.float32),
        "sin": np.sin(angles).astype(np.float32),
        "re0": _random(n),
        "im0": _random(n, seed=2),
        "re1": np.zeros(n, np.float32),
        "im1": np.zeros(n, np.float32),
    }
    ours, theirs = [], []
    for stage in range(24):
        a, b = stage % 2, 1 - stage % 2
        names = (f"re{a}", f"im{a}", "cos", "sin", f"re{b}", f"im{b}")
        ours.append(Call(example("fft", "butterflies"), (*names, 1 << stage)))
        theirs.append(Launch("butterflies", *line(half), (*names, i64(1 << stage), i32(half))))
    return Work("fft", contents, ours, theirs, ["re0"], 24.0 * 16 * n, "B", allowed=1e-5)


def _monte_carlo() -> Work:
    n = 16 * MIB
    return Work(
        "monte_carlo",
        {"found": np.zeros(n, np.int32), "hits": np.zeros(1, np.int64)},
        [
            Call(example("monte_carlo", "clear"), ("hits",)),
            Call(example("monte_carlo", "throw"), (12345, "found", "hits")),
        ],
        [
            Launch("clear_i32", (1, 1, 1), (256, 1, 1), ("hits", i32(2))),
            Launch("throw_darts", *line(n), (i32(12345), "found", "hits", i32(n))),
        ],
        ["found", "hits"],
        32.0 * n,
        "dart",
    )


def _gauss_seidel() -> Work:
    n = 8192
    ours, theirs = [], []
    for colour in range(2):
        ours.append(Call(example("gauss_seidel", "relax"), ("u", "f", 0.01, colour)))
        theirs.append(Launch("gauss_seidel", *plane(n, n), ("u", "f", f32(0.01), i32(colour), i32(n), i32(n))))
    return Work(
        "gauss_seidel",
        {"u": _random((n, n)), "f": _random((n, n), seed=2)},
        ours,
        theirs,
        ["u"],
        24.0 * n * n,
        "B",
        allowed=1e-5,
    )


def _photo() -> Work:
    height, width = 4096, 6144
    picture = np.random.default_rng(1).integers(0, 256, (height, width, 3), dtype=np.uint8)
    contents: dict[str, Any] = {"photo": picture, "bins": np.zeros(256, np.int32), "level": np.zeros(256, np.uint8)}
    contents |= {name: np.zeros((height, width), np.float32) for name in ("light", "rows", "smooth")}
    contents |= {name: np.zeros((height, width), np.uint8) for name in ("shade", "edges", "equal")}
    size, shape = (i32(height), i32(width)), plane(height, width)
    small = ((1, 1, 1), (256, 1, 1))
    steps = [
        (example("photo", "grey"), "grey", ("photo", "light", "shade"), shape, size),
        (example("photo", "blur_rows"), "blur_rows", ("light", "rows"), shape, size),
        (example("photo", "blur_columns"), "blur_columns", ("rows", "smooth"), shape, size),
        (example("photo", "sobel"), "sobel", ("smooth", "edges"), shape, size),
        (example("photo", "clear"), "clear_i32", ("bins",), small, (i32(256),)),
        (example("photo", "count_shades"), "count_shades", ("shade", "bins"), shape, size),
        (example("photo", "spread"), "spread", ("bins", "level"), small, ()),
        (example("photo", "equalise"), "equalise", ("shade", "level", "equal"), shape, size),
    ]
    return Work(
        "photo",
        contents,
        [Call(kernel, names) for kernel, _, names, _, _ in steps],
        [Launch(name, *where, (*names, *numbers)) for _, name, names, where, numbers in steps],
        ["equal"],
        29.0 * height * width,
        "B",
        allowed=1.0,
    )


#: One maker per gallery kernel, in gallery order.
MAKERS: dict[str, Callable[[], Work]] = {
    "saxpy": _saxpy,
    "triad": _triad,
    "transpose": _transpose,
    "matmul_naive": _matmul_naive,
    "matmul_tiled": _matmul_tiled,
    "reduce_sum": _reduce_sum,
    "reduce_max": _reduce_max,
    "dot": _dot,
    "scan": _scan,
    "histogram": _histogram,
    "stencil": _stencil,
    "convolution": _convolution,
    "life": _life,
    "nbody": _nbody,
    "mandelbrot": _mandelbrot,
    "bitonic": _bitonic,
    "spmv": _spmv,
    "floyd_warshall": _floyd,
    "fft": _fft,
    "monte_carlo": _monte_carlo,
    "gauss_seidel": _gauss_seidel,
    "photo": _photo,
}


def gallery_work() -> Iterator[Work]:
    """One program after the other, so that one at a time holds memory."""
    for make in MAKERS.values():
        yield make()
