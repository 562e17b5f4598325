"""What is timed: the launches of one program by isogrid and by CUDA C, on their own arrays, and what they move."""

import ctypes
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

import isogrid as ig

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "examples"
Shape: TypeAlias = tuple[int, int, int]

#: What arrays hold before the first launch: values for both sides.
Contents: TypeAlias = Mapping[str, "np.ndarray[Any, np.dtype[Any]]"]


@dataclass(frozen=True, slots=True)
class Call:
    """One isogrid launch; a string among the arguments names an array."""

    kernel: Any
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a function of peers.cu; arguments are array names and ctypes numbers. CUDA's order: x first."""

    function: str
    grid: Shape
    block: Shape
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """One program both ways. `amount` in `unit` (bytes, operations, elements) a run; `bar` is the least ratio of the
    time of the side `against` over isogrid's. `allowed` is the largest relative difference of each compared array (CUDA
    C contracts); without CUDA C the first library gives the results to compare with."""

    name: str
    contents: Contents
    ours: Sequence[Call]
    theirs: Sequence[Launch]
    results: Sequence[str]
    amount: float
    unit: str
    bar: float | None = None
    allowed: float = 0.0
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    #: The same as an expression of PyTorch tensors by name, where PyTorch has it.
    torch: Callable[[Any, Mapping[str, Any]], Any] | None = None
    #: The same in vectorised CUDA C.
    vectorised: Sequence[Launch] = ()
    #: The same as an expression of CuPy arrays by name.
    cupy: Callable[[Any, Mapping[str, Any]], Any] | None = None
    against: str = "cuda c"
    #: The least ratio to the quickest of all sides but scalar CUDA C.
    fastest: float | None = None
    #: Whether our launches are recorded and run as one graph.
    recorded: bool = False


def blocks(count: int, size: int) -> int:
    """Number of blocks of `size` that cover `count`."""
    return -(-count // size)


def line(count: int, block: int = 256) -> tuple[Shape, Shape]:
    """Grid and block of one thread per element."""
    return (blocks(count, block), 1, 1), (block, 1, 1)


def plane(height: int, width: int, rows: int = 8, columns: int = 32) -> tuple[Shape, Shape]:
    """Grid and block of one thread per point of a plane, with tiles of `rows` by `columns`."""
    return (blocks(width, columns), blocks(height, rows), 1), (columns, rows, 1)


def i32(value: int) -> ctypes.c_int32:
    return ctypes.c_int32(value)


def i64(value: int) -> ctypes.c_int64:
    return ctypes.c_int64(value)


def f32(value: float) -> ctypes.c_float:
    return ctypes.c_float(value)


def f64(value: float) -> ctypes.c_double:
    return ctypes.c_double(value)


def on_device(contents: Contents, device: str) -> dict[str, Any]:
    """Arrays of these contents on the device."""
    return {name: ig.array(value, device=device) for name, value in contents.items()}


def example(module: str, name: str) -> Any:
    """A kernel or a function of a gallery example."""
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    return getattr(importlib.import_module(module), name)
