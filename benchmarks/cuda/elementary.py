"""f32 elementary functions on an NVIDIA GPU: maps against PyTorch, 256 calls a thread against CUDA C's own functions.

python -m benchmarks.cuda.elementary [FUNCTION...]      needs PyTorch and CuPy; figures of all functions are kept
"""

import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import isogrid as ig
from benchmarks.cuda.kept import keep
from isogrid.builtins.elementary import ELEMENTARY

NAMES = (
    "exp", "log", "sin", "cos", "tanh", "rsqrt", "exp2", "log2", "tan", "atan", "cbrt", "expm1", "exp10", "log10",
    "log1p", "sinpi", "cospi", "asin", "acos", "sinh", "cosh", "asinh", "acosh", "atanh", "erf", "erfc",
)  # fmt: skip
#: Arguments are uniform from 0.5 to 4.5 where calls are counted and from 0.25 to 1.25 in maps, but for these.
RANGES = {"asin": (0.0, 0.7), "acos": (0.0, 0.7), "atanh": (0.0, 0.7), "acosh": (1.0, 4.0)}
RESULTS = Path(__file__).parents[1] / "results"
COUNT, MAPPED = 1 << 24, 1 << 28

_KERNELS = """
import math
import isogrid as ig
from isogrid.dims import N

@ig.kernel(grid=N)
def mapped(x: ig.In[ig.f32, N], y: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    y[i] = {call}(x[i])

@ig.kernel(grid=N)
def computed(x: ig.In[ig.f32, N], y: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    v = x[i]
    s = ig.f32(0)
    for j in range(256):
        s += {call}(v + ig.f32(j) * 0.001)
    y[i] = s
"""
_CUDA = """
extern "C" __global__ void computed(const float* x, float* y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], s = 0;
    for (int j = 0; j < 256; j++) s += NAMEf(v + (float)j * 0.001f);
    y[i] = s;
}
"""


def kernels(name: str) -> dict[str, Any]:
    call = {row.name: row.spellings[0].replace("isogrid.", "ig.") for row in ELEMENTARY}[name]
    text, file = _KERNELS.format(call=call), f"<elementary {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {"__name__": "benchmarks.cuda"}
    exec(compile(text, file, "exec"), space)
    return space


def milliseconds(run: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """The median of some launches by the card's clock: what the host does for a launch is another benchmark's."""
    import torch

    run()
    wait()
    times: list[float] = []
    for _ in range(9):
        started, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        started.record()
        run()
        ended.record()
        ended.synchronize()
        times.append(started.elapsed_time(ended))
    return sorted(times)[4]


def measured(name: str) -> dict[str, float]:
    """Milliseconds of a map and of 256 calls a thread, and of PyTorch, NaN where it lacks the function, and CUDA C."""
    import cupy
    import torch

    def wait() -> None:
        ig.synchronize()
        torch.cuda.synchronize()

    low, span = RANGES.get(name, (0.5, 4.0))
    x, y = torch.rand(COUNT, device="cuda") * span + low, torch.empty(COUNT, device="cuda")
    low, span = RANGES.get(name, (0.25, 1.0))
    big, out = torch.rand(MAPPED, device="cuda") * span + low, torch.empty(MAPPED, device="cuda")
    made = kernels(name)
    mapped, computed = made["mapped"].on("cuda"), made["computed"].on("cuda")
    function = getattr(torch, name, getattr(torch.special, name, None))
    peer = cupy.RawKernel(_CUDA.replace("NAME", name), "computed")
    arguments = (cupy.from_dlpack(x), cupy.from_dlpack(y), cupy.int64(COUNT))
    return {
        "map": milliseconds(lambda: mapped(big, out), wait),
        "map_pytorch": milliseconds(lambda: function(big, out=out), wait) if function else float("nan"),
        "calls": milliseconds(lambda: computed(x, y), wait),
        "calls_cuda_c": milliseconds(lambda: peer((COUNT // 256,), (256,), arguments), wait),
    }


def main() -> None:
    rows: list[dict[str, Any]] = []
    for name in sys.argv[1:] or NAMES:
        times = measured(name)
        print(
            f"{name:6} map {times['map']:6.3f} ms ({times['map_pytorch'] / times['map']:.2f} of PyTorch)   "
            f"256 calls {times['calls']:6.2f} ms ({times['calls_cuda_c'] / times['calls']:.2f} of CUDA C)",
            flush=True,
        )
        rows.append({"function": name, **{key: value / 1e3 for key, value in times.items() if value == value}})
    if not sys.argv[1:]:
        keep("cuda_elementary", "python3 -m benchmarks.cuda.elementary", RESULTS, functions=rows)


if __name__ == "__main__":
    main()
