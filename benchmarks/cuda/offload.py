"""`python -m benchmarks.cuda.offload [NAMES...]`: plain loops as kernels against the same as PyTorch expressions.

The bars: 1.2 for maps of three operations or more and for stencils, 1.0 for sums. Our sums have one order on every
device and come back as Python floats, so PyTorch's are asked for with `.item()`. Results are compared before anything
is timed, ours also with those of the CPU in every bit.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

import isogrid as ig
from benchmarks import offload_programs as programs
from benchmarks.cuda import timing
from benchmarks.cuda.kept import keep
from isogrid import In, InOut, Out, f32
from isogrid.dims import H, N, W

ROOT: Final = Path(__file__).resolve().parents[2]
COUNT: Final = 1 << 28
SIDE: Final = 1 << 14
#: For the comparison with the CPU.
SMALL: Final = 1 << 20


@ig.offload(parallel="require")
def blended(x: In[f32, N], y: In[f32, N], z: Out[f32, N]) -> None:
    for i in range(len(x)):
        t = x[i] * 0.75 + y[i] * 0.25
        z[i] = max(0.0, min(t, 1.0)) * y[i]


@ig.offload(parallel="require")
def smoothed(x: In[f32, H, W], y: InOut[f32, H, W]) -> None:
    for i in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


@ig.offload(parallel="require")
def dotted(x: In[f32, N], y: In[f32, N]) -> f32:
    s = f32(0)
    for i in range(len(x)):
        s += x[i] * y[i]
    return s


@dataclass(frozen=True)
class Program:
    """`ours` and `theirs` take the arrays of `make`; `bar` is the least ratio of PyTorch's time over ours."""

    name: str
    ours: Any
    theirs: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    moved: int
    bar: float
    result: int | None


def _programs(torch: Any) -> list[Program]:
    n, plane = (COUNT,), (SIDE, SIDE)

    def mapped(x: Any, y: Any) -> None:
        y.copy_(x * x * 2.0 + x + 1.0)

    def mapped_in_place(x: Any, y: Any) -> None:
        torch.mul(x, x, out=y)
        y.mul_(2.0).add_(x).add_(1.0)

    def blended_(x: Any, y: Any, z: Any) -> None:
        torch.mul(x * 0.75 + y * 0.25, 1.0, out=z).clamp_(0.0, 1.0).mul_(y)

    def stencil(x: Any, y: Any) -> None:
        y[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3.0

    def smoothed_(x: Any, y: Any) -> None:
        y[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])

    def conditional(x: Any) -> float:
        return torch.where(x > 0.5, x * x, 0.0).sum().item()

    return [
        Program("map", programs.mapped, mapped, (n, n), 8 * COUNT, 1.2, 1),
        Program("map in place", programs.mapped, mapped_in_place, (n, n), 8 * COUNT, 1.2, 1),
        Program("blend", blended, blended_, (n, n, n), 12 * COUNT, 1.2, 2),
        Program("stencil", programs.stencil, stencil, (n, n), 8 * COUNT, 1.2, 1),
        Program("stencil 2-D", smoothed, smoothed_, (plane, plane), 8 * SIDE * SIDE, 1.2, 1),
        Program("sum", programs.reduction, lambda x: torch.sum(x).item(), (n,), 4 * COUNT, 1.0, None),
        Program("dot", dotted, lambda x, y: torch.dot(x, y).item(), (n, n), 8 * COUNT, 1.0, None),
        Program("sum if", programs.conditional, conditional, (n,), 4 * COUNT, 1.0, None),
        Program("sum 2^24", programs.reduction, lambda x: torch.sum(x).item(), ((1 << 24,),), 4 << 24, 1.0, None),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", default=str(ROOT / "benchmarks" / "results"))
    options = parser.parse_args()
    import torch

    rows: list[dict[str, Any]] = []
    failed: list[str] = []
    for program in _programs(torch):
        if options.names and program.name.split()[0] not in options.names:
            continue
        try:
            rows.append(_measure(program, torch))
        except Exception as failure:  # one program that fails must not cost the figures of the others
            failed.append(program.name)
            print(f"{program.name:14} FAILED: {type(failure).__name__}: {str(failure)[:300]}", flush=True)
            continue
        print(_line(rows[-1]), flush=True)
    keep("cuda_offload", "python -m benchmarks.cuda.offload", Path(options.out), rows=rows)
    sys.exit(bool(failed))


def _measure(program: Program, torch: Any) -> dict[str, Any]:
    _agrees_with_the_cpu(program)
    generator = torch.Generator(device="cuda").manual_seed(1)
    theirs = [torch.rand(shape, device="cuda", generator=generator) for shape in program.shapes]
    mine = [ig.from_dlpack(tensor.clone()) for tensor in theirs]
    difference = _difference(program, program.ours(*mine), program.theirs(*theirs), mine, theirs)
    sides: dict[str, Callable[[], Any]] = {
        "isogrid": lambda: program.ours(*mine),
        "torch": lambda: program.theirs(*theirs),
    }

    def wait() -> None:
        ig.synchronize()
        torch.cuda.synchronize()

    samples = timing.compare(sides, wait)
    seconds = {side: timing.median(times) for side, times in samples.items()}
    return {
        "name": program.name,
        "bar": program.bar,
        "difference": difference,
        "seconds": seconds,
        "spread": {side: (min(times), max(times)) for side, times in samples.items()},
        "ratio": seconds["torch"] / seconds["isogrid"],
        "moved": program.moved,
    }


def _agrees_with_the_cpu(program: Program) -> None:
    """The same bits from both devices, at a size that both do quickly."""
    random = np.random.default_rng(5)
    shapes = [(SMALL,) if len(shape) == 1 else (1000, 1030) for shape in program.shapes]
    arrays = [random.random(shape, dtype=np.float32) for shape in shapes]
    near, far = [a.copy() for a in arrays], [ig.array(a, device="cuda") for a in arrays]
    results = program.ours.on("cpu")(*near), program.ours.on("cuda")(*far)
    if results[0] != results[1] or any(not np.array_equal(a, b.numpy()) for a, b in zip(near, far, strict=True)):
        raise AssertionError("the GPU and the CPU disagree")


def _difference(program: Program, ours: Any, theirs: Any, mine: list[Any], tensors: list[Any]) -> float:
    """The largest difference over the largest value."""
    if program.result is None:
        return abs(ours - theirs) / abs(theirs)
    import torch

    a, b = torch.from_dlpack(mine[program.result]), tensors[program.result]
    return float((a - b).abs().max() / b.abs().max())


def _line(row: dict[str, Any]) -> str:
    verdict = "" if row["ratio"] >= row["bar"] else "  BELOW"
    times = "  ".join(f"{side} {1e6 * t:8.1f} us" for side, t in row["seconds"].items())
    rate = row["moved"] / row["seconds"]["isogrid"] / 1e9
    return (
        f"{row['name']:14} {row['ratio']:6.2f}x bar {row['bar']}  {times}  {rate:7.0f} GB/s  "
        f"(differs by {row['difference']:.1e}){verdict}"
    )


if __name__ == "__main__":
    main()
