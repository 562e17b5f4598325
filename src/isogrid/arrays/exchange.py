"""Arrays of other libraries, and ours for them: DLPack and the CUDA array interface, without copies."""

from typing import Any

import numpy as np

from isogrid.arrays.array import Array
from isogrid.arrays.shapes import is_packed, span_of
from isogrid.runtimes.memory import Block, Memory
from isogrid.support.bfloat16 import bfloat16_dtype

#: DLPack's device types.
HOST, GPU, PINNED, MANAGED = 1, 2, 3, 13


class NotExchanged(Exception):
    """The array cannot be used; the text completes "is a torch.Tensor ..."."""


def foreign_device(value: Any) -> str | None:
    """The device of another library's array on a GPU, None for anything else."""
    if hasattr(value, "__dlpack_device__"):
        kind, number = value.__dlpack_device__()
        return _gpu(number) if int(kind) in (GPU, MANAGED) else None
    if hasattr(value, "__cuda_array_interface__"):
        return _gpu(0)
    return None


def _gpu(number: int) -> str:
    return "cuda" if int(number) == 0 else f"cuda:{int(number)}"


def adopt(value: Any, memory: Memory) -> Array:
    """A view of another library's array in the memory of its device, in place. Arrays of JAX never change, so they are
    only read; what they wait for is waited for here, since that library tells no stream."""
    if type(value).__module__.partition(".")[0] in ("jax", "jaxlib"):
        value.block_until_ready()
        return _adopted(value, memory, writeable=False)
    if getattr(value, "requires_grad", False):
        try:
            value = value.detach()
        except AttributeError:
            raise NotExchanged("that takes part in differentiation; pass it detached") from None
        return _adopted(value, memory, writeable=False)
    return _adopted(value, memory, writeable=True)


def _adopted(value: Any, memory: Memory, writeable: bool) -> Array:
    words = _words_of(value)
    interface = getattr(value if words is None else words, "__cuda_array_interface__", None)
    if interface is not None:
        made = from_interface(interface, memory, owner=value, writeable=writeable)
        return made if words is None else made.view(bfloat16_dtype())
    raise NotExchanged("without a __cuda_array_interface__; import it with ig.from_dlpack(...)")


def _words_of(value: Any) -> Any:
    """A bf16 array of PyTorch or CuPy as 16-bit integers, None for any other array: the interface has no name for
    bf16."""
    if str(getattr(value, "dtype", "")) not in ("torch.bfloat16", "bfloat16"):
        return None
    library = type(value).__module__.partition(".")[0]
    if library == "torch":
        import torch  # pyright: ignore[reportMissingImports]

        return value.view(torch.int16)  # pyright: ignore
    return value.view(np.int16) if library == "cupy" else None


def from_interface(interface: Any, memory: Memory, owner: Any, writeable: bool = True) -> Array:
    """An array from a CUDA array interface (version 2 or 3)."""
    if interface.get("mask") is not None:
        raise NotExchanged("with a mask, which a kernel cannot see")
    dtype = np.dtype(interface["typestr"])
    if dtype.kind not in "biuf":
        raise NotExchanged(f"of {dtype.name}, which is no number")
    address, read_only = interface["data"]
    shape = tuple(int(extent) for extent in interface["shape"])
    strides = interface.get("strides")
    return _wrapped(
        memory,
        owner,
        int(address or 0),
        shape,
        dtype,
        None if strides is None else tuple(int(stride) for stride in strides),
        writeable and not read_only,
        interface.get("stream"),
    )


def _wrapped(
    memory: Memory,
    owner: Any,
    address: int,
    shape: tuple[int, ...],
    dtype: "np.dtype[Any]",
    strides: tuple[int, ...] | None,
    writeable: bool,
    stream: int | None,
) -> Array:
    if strides is not None and is_packed(shape, strides, dtype.itemsize):
        strides = None
    probe = strides if strides is not None else ()
    start, end = span_of(shape, probe, dtype.itemsize) if probe else (0, _size(shape, dtype))
    block = Block(memory, address + start, end - start, owner=owner, foreign=True)
    return Array(block, address, shape, dtype, strides, writeable, current_stream(owner, stream))


def _size(shape: tuple[int, ...], dtype: "np.dtype[Any]") -> int:
    size = dtype.itemsize
    for extent in shape:
        size *= extent
    return size


def current_stream(value: Any, stated: int | None) -> int:
    """The stream that the array's library works in now: asked of the library where it is known, else what its
    interface states, else the legacy default stream."""
    library = type(value).__module__.partition(".")[0]
    if library == "torch":
        import torch  # pyright: ignore[reportMissingImports]

        return int(torch._C._cuda_getCurrentRawStream(value.device.index))  # pyright: ignore
    if library == "cupy":
        import cupy  # pyright: ignore[reportMissingImports]

        return int(cupy.cuda.get_current_stream().ptr)  # pyright: ignore
    # 1 and 2 of the interface are the legacy and the per-thread default stream; the driver knows both by number.
    return 0 if stated in (None, 0, 1) else int(stated)
