"""Maps by elementary functions of f32 on a GPU, whose rounds copy ahead (decision 0176): the bits of the CPU, which are
proved for all 2^32 arguments, at sizes around rounds and blocks, in place, and from any element on.

    python -m tests.cuda_device.maps [DEVICE] [FUNCTION...]
"""

import linecache
import sys
from typing import Any

import numpy as np

import isogrid as ig
from isogrid.builtins.elementary import ELEMENTARY
from isogrid.builtins.table import Signature
from isogrid.ir.types import Scalar
from tests.cuda_device.quotients import differing

SIZES = (1, 1023, 3072, 5119, (1 << 20) + 5, (1 << 24) + 1)
LARGE = 1 << 28
_KERNELS = """
import math
import isogrid as ig
from isogrid.dims import N

@ig.kernel(grid=N)
def mapped(x: ig.In[ig.f32, N], y: ig.InOut[ig.f32, N]) -> None:
    i = ig.gid()
    y[i] = {call}(x[i])

@ig.kernel(grid=N, block=96)
def in_place(x: ig.In[ig.f32, N], y: ig.InOut[ig.f32, N]) -> None:
    i = ig.gid()
    y[i] = {call}(y[i] + x[i])

@ig.kernel(grid=N)
def scaled(x: ig.In[ig.f32, N], y: ig.InOut[ig.f32, N]) -> None:
    i = ig.gid()
    y[i] = {call}(x[i]) * y[i]
"""


def calls() -> dict[str, str]:
    """How a function of one f32 with an f32 result is written, by its name."""
    one = Signature((Scalar.F32,), Scalar.F32)
    return {
        row.name: row.spellings[0].replace("isogrid.", "ig.")
        for row in ELEMENTARY
        if one in row.signatures and not row.name.startswith("frexp")
    }


def kernels(name: str, call: str) -> list[Any]:
    text, file = _KERNELS.format(call=call), f"<maps of {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {"__name__": "tests.cuda_device"}
    exec(compile(text, file, "exec"), space)
    return [space[kernel] for kernel in ("mapped", "in_place", "scaled")]


def arguments(size: int) -> Any:
    """Mostly numbers that take the usual path; every eighth element has any bits."""
    random = np.random.default_rng(size)
    x = random.uniform(-4, 4, size).astype(np.float32)
    x[::8] = random.integers(0, 1 << 32, len(x[::8]), dtype=np.uint32).view(np.float32)
    return x


def wrong_of(kernel: Any, device: str, size: int, start: int = 0) -> int:
    """Elements that differ between a device and the CPU, from one element of both arrays on."""
    x, y = arguments(size + start), arguments(size + start)[::-1].copy()
    there_x, there_y = ig.array(x, device=device), ig.array(y, device=device)
    kernel.on(device)(there_x[start:], there_y[start:])
    kernel.on("cpu")(x[start:], y[start:])
    return differing(there_y.numpy(), y)


def main() -> int:
    device = sys.argv[1] if len(sys.argv) > 1 else "cuda"
    total = 0
    for name, call in calls().items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        made = kernels(name, call)
        wrong = sum(wrong_of(kernel, device, size) for kernel in made for size in SIZES)
        wrong += sum(wrong_of(kernel, device, 70_000, start) for kernel in made for start in (1, 2, 3, 4))
        if name == "exp" and device == "cuda":
            wrong += wrong_of(made[0], device, LARGE)
        print(f"{name:8} {wrong} wrong", flush=True)
        total += wrong
    return min(total, 1)


if __name__ == "__main__":
    sys.exit(main())
