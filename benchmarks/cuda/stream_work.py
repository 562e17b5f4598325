"""Streams of 2^28 f32 and a large stencil, with PyTorch's expressions and vectorised CUDA C beside the scalar one."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.cuda import streams
from benchmarks.cuda.work import Call, Launch, Work, example, f32, i32, line, plane

COUNT = 1 << 28
#: Of the quickest of PyTorch, CuPy, Triton and vectorised CUDA C.
FASTEST = 0.99


def _random(seed: int, count: int = COUNT) -> Any:
    return np.random.default_rng(seed).random(count, dtype=np.float32)


def _copy(torch: Any, t: Mapping[str, Any]) -> Any:
    return t["y"].copy_(t["x"])


def _shift(torch: Any, t: Mapping[str, Any]) -> Any:
    return torch.add(t["x"], 1.0, out=t["y"])


def _saxpy(torch: Any, t: Mapping[str, Any]) -> Any:
    return t["y"].add_(t["x"], alpha=0.7)


def _triad(torch: Any, t: Mapping[str, Any]) -> Any:
    return torch.add(t["b"], t["c"], alpha=3.1, out=t["a"])


def _chain(torch: Any, t: Mapping[str, Any]) -> Any:
    d = t["x"] - t["y"]
    return torch.add(t["x"], torch.sqrt(d * d + 1.0), alpha=0.5, out=t["z"])


def stream_work() -> Iterator[Work]:
    """One program after the other."""
    n, where, quarters = COUNT, line(COUNT), line(COUNT // 4)
    empty = np.zeros(n, np.float32)
    yield Work(
        "copy 2^28",
        {"x": _random(1), "y": empty},
        [Call(streams.copy, ("x", "y"))],
        [Launch("copy_f32", *where, ("x", "y", i32(n)))],
        ["y"],
        8.0 * n,
        "B",
        bar=1.5,
        fastest=FASTEST,
        torch=_copy,
        vectorised=[Launch("copy_float4", *quarters, ("x", "y", i32(n // 4)))],
    )
    yield Work(
        "map 2^28",
        {"x": _random(1), "y": empty},
        [Call(streams.shift, ("x", "y"))],
        [Launch("shift_f32", *where, ("x", "y", i32(n)))],
        ["y"],
        8.0 * n,
        "B",
        bar=1.5,
        fastest=FASTEST,
        torch=_shift,
        vectorised=[Launch("shift_float4", *quarters, ("x", "y", i32(n // 4)))],
    )
    yield Work(
        "saxpy 2^28",
        {"x": _random(1), "y": _random(2)},
        [Call(example("saxpy", "saxpy"), (0.7, "x", "y"))],
        [Launch("saxpy", *where, (f32(0.7), "x", "y", i32(n)))],
        ["y"],
        12.0 * n,
        "B",
        bar=1.2,
        fastest=FASTEST,
        torch=_saxpy,
        vectorised=[Launch("saxpy_float4", *quarters, (f32(0.7), "x", "y", i32(n // 4)))],
    )
    yield Work(
        "triad 2^28",
        {"b": _random(1), "c": _random(2), "a": empty},
        [Call(streams.triad, (3.1, "b", "c", "a"))],
        [Launch("triad_f32", *where, (f32(3.1), "b", "c", "a", i32(n)))],
        ["a"],
        12.0 * n,
        "B",
        bar=1.2,
        fastest=FASTEST,
        torch=_triad,
        vectorised=[Launch("triad_float4", *quarters, (f32(3.1), "b", "c", "a", i32(n // 4)))],
    )
    yield Work(
        "chain 2^28",
        {"x": _random(1), "y": _random(2), "z": empty},
        [Call(streams.chain, ("x", "y", "z"))],
        [Launch("chain_f32", *where, ("x", "y", "z", i32(n)))],
        ["z"],
        12.0 * n,
        "B",
        bar=1.2,
        fastest=FASTEST,
        allowed=1e-6,
        torch=_chain,
        vectorised=[Launch("chain_float4", *quarters, ("x", "y", "z", i32(n // 4)))],
    )
    side = 16384
    x = _random(1, side * side).reshape(side, side)
    yield Work(
        "stencil 16384^2",
        {"x": x, "y": x},
        [Call(example("stencil", "stencil"), ("x", "y"))],
        [Launch("stencil", *plane(side, side), ("x", "y", i32(side), i32(side)))],
        ["y"],
        8.0 * side * side,
        "B",
        bar=1.7,
    )
