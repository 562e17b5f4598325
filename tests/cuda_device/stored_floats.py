"""f16 and bf16 on a GPU: all 2^32 f32 by digest, by PTX and by NVRTC; tensors of PyTorch in place; bytes per second."""

import statistics
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import isogrid as ig
from isogrid import In, InOut, Out, bf16, f16, f32
from isogrid.cli.device_digests import GROUP, LAUNCH, STORED, digest_kernel
from isogrid.dims import N
from isogrid.mathlib.digests import BLOCK, known


@ig.kernel(grid=N)
def half_axpy(a: f32, x: In[f16, N], y: InOut[f16, N]) -> None:
    i = ig.gid()
    y[i] = f16(a * x[i] + y[i])


@ig.kernel(grid=N)
def bfloat_axpy(a: f32, x: In[bf16, N], y: InOut[bf16, N]) -> None:
    i = ig.gid()
    y[i] = bf16(a * x[i] + y[i])


@ig.kernel(grid=N)
def widened(x: In[bf16, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i]


def digests() -> int:
    wrong = 0
    for name, function in STORED.items():
        for how in ("llvm", "nvrtc"):
            run = digest_kernel(function).on("cuda").options(cuda={} if how == "llvm" else {"codegen": "nvrtc"})
            for first in range(0, (1 << 32) // BLOCK, LAUNCH // BLOCK):
                out = np.zeros(LAUNCH // GROUP, np.uint64)
                run(first * BLOCK, out)
                found = out.reshape(LAUNCH // BLOCK, -1).sum(axis=1, dtype=np.uint64)
                wrong += int((found != known(name)[first : first + LAUNCH // BLOCK]).sum())
            print(f"{name} by {how}: {wrong} blocks differ", flush=True)
    return wrong


def tensors() -> None:
    import torch

    for kernel, type in ((half_axpy, torch.float16), (bfloat_axpy, torch.bfloat16)):
        x = torch.linspace(-3, 3, 1001, device="cuda").to(type)
        y = torch.ones(1001, device="cuda").to(type)
        want = (0.3 * x.float() + y.float()).to(type)
        for _ in range(3):  # the long way, then the native stub
            z = y.clone()
            kernel(0.3, x, z)
            assert torch.equal(z, want), (type, z[:5], want[:5])
        on_host = y.cpu()
        kernel.on("cpu")(0.3, x.cpu(), on_host)
        assert torch.equal(on_host, want.cpu()), type
    own = ig.array(np.arange(5, dtype=np.float32), bf16, device="cuda")
    theirs: Any = torch.from_dlpack(own)
    assert theirs.dtype is torch.bfloat16 and theirs.data_ptr() == own.address and theirs.tolist() == [0, 1, 2, 3, 4]
    wide = ig.zeros(5, f32, device="cuda")
    widened(ig.from_dlpack(theirs), wide)
    assert wide.tolist() == [0, 1, 2, 3, 4]


def speed() -> None:
    import torch

    for kernel, type in ((half_axpy, torch.float16), (bfloat_axpy, torch.bfloat16)):
        x, y = (torch.ones(1 << 28, device="cuda", dtype=type) for _ in range(2))
        own = rate(partial(kernel, 0.0, x, y), 6 << 28)
        theirs = rate(partial(torch.add, y, x, alpha=0.0, out=y), 6 << 28)
        print(f"{kernel.definition.name}: {own:.0f} GB/s, PyTorch {theirs:.0f} GB/s", flush=True)


def rate(run: Callable[[], object], bytes: int) -> float:
    """GB/s, the median of some runs."""
    import torch

    taken: list[float] = []
    for _ in range(12):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        end.synchronize()
        taken.append(start.elapsed_time(end))
    return bytes / statistics.median(taken) / 1e6


def main() -> int:
    tensors()
    print("tensors of PyTorch agree", flush=True)
    wrong = digests()
    speed()
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
