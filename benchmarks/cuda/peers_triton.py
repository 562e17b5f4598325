"""Programs of the table as Triton kernels, in the form of Triton's own tutorials: blocks of 1,024 with a mask.

Imported only where Triton is installed: `triton.jit` reads the source of these functions.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import torch
import triton
import triton.language as tl

BLOCK: Final = 1024
TILE: Final = 32


@triton.jit
def _copy(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def _shift(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1.0, mask=i < n)


@triton.jit
def _saxpy(a, x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + i, a * tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def _triad(s, b, c, a, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(a + i, tl.load(b + i, mask=i < n) + s * tl.load(c + i, mask=i < n), mask=i < n)


@triton.jit
def _chain(x, y, z, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    u = tl.load(x + i, mask=i < n)
    d = u - tl.load(y + i, mask=i < n)
    tl.store(z + i, tl.sqrt(d * d + 1.0) * 0.5 + u, mask=i < n)


@triton.jit
def _transpose(x, y, height, width, tile: tl.constexpr):
    i = tl.program_id(0) * tile + tl.arange(0, tile)
    j = tl.program_id(1) * tile + tl.arange(0, tile)
    inside = (i[:, None] < height) & (j[None, :] < width)
    part = tl.load(x + i[:, None] * width + j[None, :], mask=inside)
    tl.store(y + j[:, None] * height + i[None, :], tl.trans(part), mask=tl.trans(inside))


def _line(kernel: Any, names: str, *scalars: float) -> Callable[[Mapping[str, Any]], Callable[[], None]]:
    """A program of scalars, then arrays of one length, then that length."""

    def prepare(arrays: Mapping[str, Any]) -> Callable[[], None]:
        tensors = [torch.from_dlpack(arrays[name]) for name in names.split()]
        count = tensors[0].numel()
        grid = (triton.cdiv(count, BLOCK),)
        return lambda: kernel[grid](*scalars, *tensors, count, block=BLOCK)

    return prepare


def _turned(arrays: Mapping[str, Any]) -> Callable[[], None]:
    x, y = torch.from_dlpack(arrays["x"]), torch.from_dlpack(arrays["y"])
    height, width = x.shape
    grid = (triton.cdiv(height, TILE), triton.cdiv(width, TILE))
    return lambda: _transpose[grid](x, y, height, width, tile=TILE)


#: By the name of the row: arrays to a run.
PROGRAMS: Final = {
    "copy 2^28": _line(_copy, "x y"),
    "map 2^28": _line(_shift, "x y"),
    "saxpy 2^28": _line(_saxpy, "x y", 0.7),
    "triad 2^28": _line(_triad, "b c a", 3.1),
    "chain 2^28": _line(_chain, "x y z"),
    "saxpy": _line(_saxpy, "x y", 0.7),
    "triad": _line(_triad, "b c a", 3.1),
    "transpose": _turned,
    "transpose 16384^2": _turned,
}
