"""f32 elementary functions on an NVIDIA GPU: maps against PyTorch, 256 calls a thread against CUDA C's own functions.

python -m benchmarks.cuda.elementary [FUNCTION...]      needs PyTorch and CuPy
"""

import linecache
import sys
import time
from collections.abc import Callable
from typing import Any

import isogrid as ig
from isogrid.builtins.elementary import ELEMENTARY

NAMES = ("exp", "log", "sin", "cos", "tanh", "rsqrt", "exp2", "log2", "tan", "atan", "cbrt", "expm1")
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
    run()
    wait()
    times: list[float] = []
    for _ in range(5):
        started = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - started)
    return sorted(times)[2] * 1e3


def main() -> None:
    import cupy
    import torch

    def wait() -> None:
        ig.synchronize()
        torch.cuda.synchronize()

    x, big = torch.rand(COUNT, device="cuda") * 4 + 0.5, torch.rand(MAPPED, device="cuda") + 0.25
    y, out = torch.empty_like(x), torch.empty_like(big)
    cx, cy = cupy.from_dlpack(x), cupy.from_dlpack(y)
    for name in sys.argv[1:] or NAMES:
        made = kernels(name)
        mapped, computed = made["mapped"].on("cuda"), made["computed"].on("cuda")
        peer = cupy.RawKernel(_CUDA.replace("NAME", name), "computed")
        own = milliseconds(lambda mapped=mapped: mapped(big, out), wait)
        function = getattr(torch, name, None)
        other = milliseconds(lambda function=function: function(big, out=out), wait) if function else float("nan")
        chain = milliseconds(lambda computed=computed: computed(x, y), wait)
        cuda = milliseconds(lambda peer=peer: peer((COUNT // 256,), (256,), (cx, cy, cupy.int64(COUNT))), wait)
        print(
            f"{name:6} map {own:6.3f} ms ({other / own:.2f} of PyTorch)   "
            f"256 calls {chain:6.2f} ms ({cuda / chain:.2f} of CUDA C)",
            flush=True,
        )


if __name__ == "__main__":
    main()
