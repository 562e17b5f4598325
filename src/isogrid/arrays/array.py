"""`Array`: a typed, shaped view of a block of device memory.

It is storage: kernels compute with it. Slices are views of the same memory, `.numpy()` copies to the host, and other
libraries see it through DLPack and the CUDA array interface without a copy (exchange.py).
"""

import math
from collections.abc import Iterator
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np

from isogrid.arrays import dlpack, fields, shapes
from isogrid.runtimes.memory import Block, host_bytes
from isogrid.support.bfloat16 import is_bfloat16, rounded_to_bfloat16

Host: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"


class Flags:
    """What a launch asks of an array's memory, under NumPy's names."""

    __slots__ = ("c_contiguous", "writeable")

    aligned: Final = True

    def __init__(self, c_contiguous: bool, writeable: bool) -> None:
        self.c_contiguous = c_contiguous
        self.writeable = writeable

    @property
    def forc(self) -> bool:
        return self.c_contiguous


class Array(fields.Fields):
    """An array on a device. `ig.array`, `ig.zeros` and the like make one; slices and reshapes are views."""

    __slots__ = ("__weakref__", "block", "dtype", "foreign_stream", "is_packed", "on_host", "shape", "strides")

    #: Of the base class: address of the first element, and number of elements.
    address: int
    size: int

    __array_priority__ = 1000
    __hash__ = object.__hash__

    def __init__(
        self,
        block: Block,
        address: int,
        shape: tuple[int, ...],
        dtype: "np.dtype[Any]",
        strides: tuple[int, ...] | None = None,
        writeable: bool = True,
        foreign_stream: int | None = None,
    ) -> None:
        self.block = block
        self.address = address
        self.shape = shape
        self.dtype = dtype
        self.size = math.prod(shape)
        self.strides = shapes.packed_strides(shape, dtype.itemsize) if strides is None else strides
        self.is_packed = strides is None or shapes.is_packed(shape, strides, dtype.itemsize)
        self.foreign_stream = foreign_stream
        self.on_host: Host | None = None
        self.extent0, self.extent1, self.extent2, self.extent3 = (*shape, 0, 0, 0, 0)[:4]
        self.traits = fields.traits_of(
            fields.number_of(dtype),
            min(len(shape), 255),
            block.memory.number,
            block.memory.is_host or not self.is_packed or foreign_stream is not None,
            writeable,
        )

    # --- what it is --------------------------------------------------------------------------------------------------

    @property
    def device(self) -> str:
        """Name of the device that holds the elements."""
        return self.block.memory.device

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def writeable(self) -> bool:
        """Whether elements may be set through this view."""
        return not self.traits & fields.READ_ONLY_BIT

    def read_only(self) -> "Array":
        """A view through which nothing can be written."""
        return Array(self.block, self.address, self.shape, self.dtype, self.strides, False, self.foreign_stream)

    @property
    def flags(self) -> Flags:
        return Flags(self.is_packed, self.writeable)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<isogrid array of {self.dtype.name}, shape {self.shape}, on {self.device}>"

    # --- views -------------------------------------------------------------------------------------------------------

    def __getitem__(self, subscript: Any) -> "Array":
        view = shapes.view_of(self.shape, self.strides, subscript)
        return self._view(self.address + view.offset, view.shape, view.strides)

    def __iter__(self) -> "Iterator[Array]":
        return (self[row] for row in range(len(self)))

    def reshape(self, *shape: Any) -> "Array":
        """The same elements in another shape; one extent may be -1. The array must be contiguous."""
        given: Any = shape[0] if len(shape) == 1 else shape
        wanted: list[int] = [given] if isinstance(given, int) else list(given)
        if wanted.count(-1) == 1:
            known = math.prod(extent for extent in wanted if extent != -1)
            wanted[wanted.index(-1)] = self.size // known if known else 0
        settled = shapes.shape_of(wanted)
        if math.prod(settled) != self.size:
            raise ValueError(f"an array of shape {self.shape} cannot take the shape {given}")
        if not self.is_packed:
            raise ValueError("only a contiguous array can be reshaped without a copy; call .copy() first")
        return self._view(self.address, settled, None)

    def ravel(self) -> "Array":
        """The elements along one axis."""
        return self.reshape(-1)

    def view(self, dtype: Any) -> "Array":
        """The same bytes as elements of another type of the same size."""
        wanted = np.dtype(dtype)
        if wanted.itemsize != self.dtype.itemsize:
            raise ValueError(f"{self.dtype.name} and {wanted.name} differ in size")
        return Array(self.block, self.address, self.shape, wanted, self.strides, self.writeable, self.foreign_stream)

    def _view(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...] | None) -> "Array":
        return Array(self.block, address, shape, self.dtype, strides, self.writeable, self.foreign_stream)

    # --- contents ----------------------------------------------------------------------------------------------------

    def numpy(self) -> Host:
        """A copy of the elements in host memory. Waits for queued launches and raises the first pending trap."""
        if self.is_packed:
            target = np.empty(self.shape, self.dtype)
            self._follow()
            self.block.memory.read(_bytes_of(target), self.block, self.address)
            return target
        spread, view = self._spread()
        return np.ascontiguousarray(view) if spread.size else np.empty(self.shape, self.dtype)

    def item(self) -> Any:
        """The one element, as a Python number."""
        if self.size != 1:
            raise ValueError(f"an array of {self.size} elements is no single number")
        return self._plain().item()

    def tolist(self) -> Any:
        """The elements as Python numbers in lists."""
        return self._plain().tolist()

    def _plain(self) -> Host:
        """The elements as numbers that NumPy turns into Python's."""
        elements = self.numpy()
        return elements.astype(np.float32) if is_bfloat16(self.dtype) else elements

    def fill(self, value: Any) -> None:
        """Set every element, in order behind what is queued."""
        self[...] = value

    def copy(self) -> "Array":
        """A contiguous copy on the same device."""
        block = self.block.memory.take(self.nbytes)
        made = Array(block, block.address, self.shape, self.dtype)
        if self.is_packed:
            self._follow()
            self.block.memory.copy(made.block, made.address, self.block, self.address, self.nbytes)
            self._lead()
        else:
            made[...] = self.numpy()
        return made

    def __setitem__(self, subscript: Any, value: Any) -> None:
        target = self if subscript is Ellipsis else self[subscript]
        if not self.writeable:
            raise ValueError("the array is read-only")
        self._follow()
        if isinstance(value, Array):
            target._assign_array(value)
        elif target.size:
            target._assign_host(value)
        self._lead()

    def _assign_array(self, source: "Array") -> None:
        if source.dtype != self.dtype:
            raise TypeError(f"elements of {source.dtype.name} cannot be copied into an array of {self.dtype.name}")
        whole = self.is_packed and source.is_packed and source.shape == self.shape
        if whole and self.block.memory.reaches(source.block.memory):
            self.block.memory.copy(self.block, self.address, source.block, source.address, self.nbytes)
        else:
            self._assign_host(source.numpy())

    def _assign_host(self, value: Any) -> None:
        given = np.asarray(value)
        if given.ndim == 0 and self.is_packed:
            element = _element(given, self.dtype)
            self.block.memory.fill(self.block, self.address, element.tobytes(), self.size)
            return
        if isinstance(value, np.ndarray) and given.dtype != self.dtype and given.ndim:
            if given.dtype.newbyteorder("=") == self.dtype:
                raise TypeError(
                    f"the elements have not this machine's byte order; convert them with .astype(np.{self.dtype.name})"
                )
            raise TypeError(f"elements of {given.dtype.name} cannot be copied into an array of {self.dtype.name}")
        content = np.ascontiguousarray(np.broadcast_to(_element(given, self.dtype), self.shape))
        if self.is_packed:
            self.block.memory.write(self.block, self.address, _bytes_of(content))
            return
        spread, view = self._spread()
        view[...] = content
        start, _ = shapes.span_of(self.shape, self.strides, self.itemsize)
        self.block.memory.write(self.block, self.address + start, spread)

    def _spread(self) -> "tuple[np.ndarray[Any, np.dtype[np.uint8]], Any]":
        """The bytes between the first and the last element, copied to the host, and the elements among them."""
        start, end = shapes.span_of(self.shape, self.strides, self.itemsize)
        spread = np.empty(end - start, np.uint8)
        self._follow()
        self.block.memory.read(spread, self.block, self.address + start)
        return spread, np.ndarray(self.shape, self.dtype, spread.data if spread.size else None, -start, self.strides)

    def _follow(self) -> None:
        """Let work on the elements come behind what their library has queued in its own stream."""
        if self.foreign_stream:
            self.block.memory.follow(self.foreign_stream)

    def _lead(self) -> None:
        """Let the library's stream wait for work on the elements."""
        if self.foreign_stream:
            self.block.memory.share(self.block, self.foreign_stream)

    def host_view(self) -> Host:
        """The elements in place, for devices whose memory the processor reads. They keep the block alive. It is made
        once, for launches ask for it again and again."""
        if self.on_host is None:
            self.on_host = self._host_view()
        return self.on_host

    def _host_view(self) -> Host:
        start, end = shapes.span_of(self.shape, self.strides, self.itemsize)
        content = host_bytes(self.block, self.address + start, end - start)
        if content.size == 0:
            return np.empty(self.shape, self.dtype)
        view = np.ndarray(self.shape, self.dtype, content, -start, self.strides)
        view.flags.writeable = self.writeable
        return view

    # --- exchange ----------------------------------------------------------------------------------------------------

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.device_of(self.block.memory)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule for another library, which then shares the memory. `stream` is the stream that will read it."""
        if dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__():
            raise BufferError(f"the array is on {self.device}; copy it with .numpy()")
        shared = self.copy() if copy else self
        shared.share(stream)
        return dlpack.export_array(shared, max_version is not None and max_version[0] >= 1)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.block.memory.is_host:
            raise AttributeError("the array is in host memory and has no CUDA array interface")
        self.share(None)
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address if self.size else 0, not self.writeable),
            "strides": None if self.is_packed else self.strides,
            "stream": 1,
            "version": 3,
        }

    def share(self, stream: Any) -> None:
        """Let other libraries have the memory: work of `stream` comes behind what is queued on the array, whose traps
        are raised now."""
        self.block.memory.share(self.block, stream)
        self.block.left_library = True

    # --- what it is not ----------------------------------------------------------------------------------------------

    def __array__(self, *arguments: Any, **keywords: Any) -> NoReturn:
        raise TypeError(f"NumPy would copy the array from {self.device} silently; write .numpy()")

    def __bool__(self) -> bool:
        raise TypeError("an array on a device has no truth value; look at .numpy() or .item()")

    def __eq__(self, other: object) -> Any:
        raise TypeError("arrays on a device are compared by a kernel, or on the host: x.numpy() == y.numpy()")

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"an array on {self.device} is not pickled; pickle .numpy() and make it anew with ig.array")


def _element(value: Any, dtype: "np.dtype[Any]") -> Any:
    """Host values as elements of `dtype`: numbers as scalar arguments are, exactly or rounded once; arrays exactly."""
    if value.dtype == dtype:
        return value
    if is_bfloat16(dtype) and value.dtype.kind in "iuf":
        return rounded_to_bfloat16(value)
    if dtype.kind == "f" and value.dtype.kind in "iuf":
        return value.astype(dtype)
    if dtype.kind in "iu" and value.dtype.kind in "iub":
        converted = value.astype(dtype)
        if np.array_equal(converted, value) and (value.dtype.kind != "u" or not np.any(converted < 0)):
            return converted
        raise OverflowError(f"a value does not fit elements of {dtype.name}")
    raise TypeError(f"values of {value.dtype.name} are no elements of an array of {dtype.name}")


def _bytes_of(array: Host) -> "np.ndarray[Any, np.dtype[np.uint8]]":
    return array.reshape(-1).view(np.uint8)
