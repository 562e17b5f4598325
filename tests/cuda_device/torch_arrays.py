"""PyTorch and CuPy next to our launches: their arrays as arguments, ours in theirs, streams, traps."""

import sys
from typing import Any

import numpy as np

import isogrid as ig
from tests.arrays import kernels as k


def main() -> int:
    import torch

    device = "cuda:0"
    x, y = torch.full((1000,), 2.0, device=device), torch.ones(1000, device=device)
    k.saxpy(3.0, x, y)
    assert (y == 7).all(), y
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        slow = torch.randn(4096, 4096, device=device)
        for _ in range(20):
            slow = slow @ slow * 1e-3
        z = torch.zeros(1 << 22, device=device)
        z += 5
        w = torch.ones(1 << 22, device=device)
        k.saxpy(1.0, z, w)
        w *= 2
    stream.synchronize()
    assert (w == 12).all()
    ours = ig.from_dlpack(x)
    assert ours.device == "cuda" and ours.address == x.data_ptr()
    ours.fill(4)
    assert (x == 4).all()
    mine = ig.array(np.arange(6, dtype=np.float32).reshape(2, 3), device="cuda")
    theirs = torch.from_dlpack(mine)
    assert theirs.data_ptr() == mine.address and theirs.tolist() == [[0, 1, 2], [3, 4, 5]]
    theirs += 1
    assert mine.numpy()[0, 0] == 1
    as_interface = torch.as_tensor(mine, device=device)
    assert as_interface.data_ptr() == mine.address
    grad = torch.ones(1000, device=device, requires_grad=True)
    k.saxpy(1.0, grad, x)
    try:
        k.saxpy(1.0, x, grad)
    except ig.LaunchValueError as error:
        print(str(error).splitlines()[0])
    else:
        raise AssertionError("a tensor that requires grad was written")
    # An out-of-range kernel next to a computation of PyTorch.
    at = torch.full((1000,), 99999, dtype=torch.int32, device=device)
    before = y.clone()
    try:
        k.gather(at, x, y)
    except ig.KernelIndexError as trap:
        print(str(trap).splitlines()[0])
    else:
        raise AssertionError("no trap")
    assert torch.equal(y, before) and torch.isfinite(torch.randn(100, device=device).sum())
    cupy()
    print("PyTorch and CuPy agree")
    return 0


def cupy() -> None:
    import cupy as module

    cp: Any = module
    a, b = cp.full(1000, 2, cp.float32), cp.ones(1000, cp.float32)
    k.saxpy(3.0, a, b)
    assert (b == 7).all()
    ours = ig.from_dlpack(b)
    assert ours.address == b.data.ptr
    assert cp.from_dlpack(ours).data.ptr == b.data.ptr
    assert cp.asarray(ours).data.ptr == b.data.ptr


if __name__ == "__main__":
    sys.exit(main())
