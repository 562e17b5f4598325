"""Tuned kernels against the libraries that a user would pick instead, in one run: PyTorch, cuBLAS through it, CUB
through CuPy. Copies give the bandwidth that a transpose is compared with."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.cuda import tuned
from benchmarks.cuda.work import Call, Launch, Work, blocks, i32

COUNT = 1 << 28


def _random(count: Any, seed: int = 1) -> Any:
    return np.random.default_rng(seed).random(count, dtype=np.float32)


def tuned_work() -> Iterator[Work]:
    """One program after the other."""
    yield _tree()
    yield _scan()
    yield _transpose()
    yield _histogram()
    yield _matmul()


def _sum(torch: Any, t: Mapping[str, Any]) -> Any:
    return torch.sum(t["p0"], dim=0, out=t["total"][0])


def _tree() -> Work:
    """Levels of 256; the last sum is the first element of the last level."""
    contents: dict[str, Any] = {"p0": _random(COUNT), "total": np.zeros(1, np.float32)}
    ours, theirs, length = [], [], COUNT
    while length > 1:
        level, after = len(ours), blocks(length, 256)
        name = "total" if after == 1 else f"p{level + 1}"
        contents.setdefault(name, np.zeros(after, np.float32))
        ours.append(Call(tuned.tree_sums, (f"p{level}", name)))
        length = after
    length, level = COUNT, 0
    while length > 1:
        # CUDA C's classic tree takes four elements a thread.
        after = blocks(length, 1024)
        name = "total" if after == 1 else f"q{level + 1}"
        contents.setdefault(name, np.zeros(after, np.float32))
        source = "p0" if level == 0 else f"q{level}"
        theirs.append(Launch("reduce_sum", (after, 1, 1), (256, 1, 1), (source, name, i32(length))))
        length, level = after, level + 1
    return Work(
        "tree sum 2^28",
        contents,
        ours,
        theirs,
        ["total"],
        4.0 * COUNT,
        "B",
        bar=1.0,
        against="torch",
        allowed=1e-6,
        torch=_sum,
        recorded=True,
    )


def _cumsum(torch: Any, t: Mapping[str, Any]) -> Any:
    return torch.cumsum(t["x"], dim=0, out=t["y"])


def _cub(cupy: Any, t: Mapping[str, Any]) -> Any:
    return cupy.cumsum(t["x"], out=t["y"])


def _scan() -> Work:
    """Sums of chunks of 1024, their own scans, and the chunks once more: 12 bytes an element are moved."""
    chunk = tuned.CHUNK
    contents: dict[str, Any] = {"x": _random(COUNT), "y": np.zeros(COUNT, np.float32)}
    lengths = [COUNT]
    ours: list[Call] = []
    sums = ["x"]
    while lengths[-1] > chunk:
        lengths.append(blocks(lengths[-1], chunk))
        name = f"s{len(lengths)}"
        contents[name] = np.zeros(lengths[-1], np.float32)
        ours.append(Call(tuned.chunk_sums, (sums[-1], name)))
        sums.append(name)
    contents["none"] = np.zeros(1, np.float32)
    before = "none"
    for level in range(len(sums) - 1, -1, -1):
        after = "y" if level == 0 else f"t{level}"
        contents.setdefault(after, np.zeros(lengths[level], np.float32))
        ours.append(Call(tuned.chunk_scans, (sums[level], before, after)))
        before = after
    return Work(
        "scan 2^28",
        contents,
        ours,
        [],
        ["y"],
        8.0 * COUNT,
        "B",
        bar=0.9,
        against="torch",
        allowed=1e-3,
        torch=_cumsum,
        cupy=_cub,
        recorded=True,
    )


def _copy(torch: Any, t: Mapping[str, Any]) -> Any:
    return t["z"].copy_(t["x"])


def _transpose() -> Work:
    side = 16384
    return Work(
        "transpose 16384^2",
        {"x": _random((side, side)), "y": np.zeros((side, side), np.float32), "z": np.zeros((side, side), np.float32)},
        [Call(tuned.transpose, ("x", "y"))],
        [Launch("transpose", (side // 32, side // 32, 1), (32, 8, 1), ("x", "y", i32(side), i32(side)))],
        ["y"],
        8.0 * side * side,
        "B",
        bar=0.9,
        against="torch",
        torch=_copy,
    )


def _histogram() -> Work:
    values = np.random.default_rng(1).integers(0, 256, COUNT, dtype=np.int32)
    return Work(
        "histogram 2^28",
        {"x": values, "bins": np.zeros(256, np.int32)},
        [Call(tuned.clear, ("bins",)), Call(tuned.histogram, ("x", "bins"))],
        [
            Launch("clear_i32", (1, 1, 1), (256, 1, 1), ("bins", i32(256))),
            Launch("histogram_i32", (1056, 1, 1), (256, 1, 1), ("x", "bins", i32(COUNT))),
        ],
        ["bins"],
        4.0 * COUNT,
        "B",
        bar=1.55,
    )


def _cublas(torch: Any, t: Mapping[str, Any]) -> Any:
    torch.backends.cuda.matmul.allow_tf32 = False
    return torch.matmul(t["a"], t["b"], out=t["c"])


def _matmul() -> Work:
    n = 4096
    return Work(
        "matmul 4096^3",
        {"a": _random((n, n)), "b": _random((n, n), 2), "c": np.zeros((n, n), np.float32)},
        [Call(tuned.MATMUL, ("a", "b", "c"))],
        [],
        ["c"],
        2.0 * n**3,
        "FLOP",
        bar=0.92,
        against="torch",
        allowed=1e-5,
        torch=_cublas,
    )
