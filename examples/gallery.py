"""What an example is, how its answer is judged, and where all of them are. Tests, demo and benchmark use this."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import isogrid as ig

Array: TypeAlias = NDArray[Any]
Inputs: TypeAlias = Mapping[str, Any]
Outputs: TypeAlias = Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Job:
    """Work that is ready to go: `launch()` does all of it, may be called again, and fills `outputs`."""

    launch: Callable[[], None]
    outputs: Outputs


@dataclass(frozen=True, slots=True)
class Example:
    """One gallery kernel.

    `make_inputs(size, seed)` gives the same values every time. `prepare(inputs, device)` allocates the outputs (inputs
    stay as they are). `reference(inputs)` computes in NumPy what the outputs should hold after one launch. `allowed`
    gives the largest absolute difference per output and says in `bound` where it comes from; None means equal, bit for
    bit, every NaN counting as one. `sizes` are those that the interpreter runs too: empty, one, around a block, with a
    vector tail, interior. `large` is for the CPU against NumPy, `bench` for timing.
    """

    name: str
    title: str
    sizes: tuple[int, ...]
    large: int
    bench: int
    make_inputs: Callable[[int, int], Inputs]
    prepare: Callable[[Inputs, str], Job]
    reference: Callable[[Inputs], Outputs]
    threads: Callable[[int], int]
    bound: str = "equal in every bit"
    allowed: Callable[[Inputs], Mapping[str, Any]] | None = None

    def run(self, inputs: Inputs, device: str) -> Outputs:
        """Outputs of one launch on `device`."""
        job = self.prepare(inputs, device)
        job.launch()
        return job.outputs

    def complaint(self, inputs: Inputs, found: Outputs, expected: Outputs) -> str:
        """Empty if `found` is as close to the reference as the example promises, else the first difference."""
        limits: Mapping[str, Any] = {} if self.allowed is None else self.allowed(inputs)
        for name, want in expected.items():
            text = difference(found[name], want, limits.get(name))
            if text:
                return f"{self.name}: `{name}` {text}"
        return ""


def difference(found: Array, want: Array, limit: Any = None) -> str:
    """Empty if the arrays agree (bit for bit, or within `limit`), else where they first do not."""
    if found.shape != want.shape or found.dtype != want.dtype:
        return f"is {found.dtype}{found.shape}, expected {want.dtype}{want.shape}"
    if limit is None:
        bad = canonical(found) != canonical(want)
    else:
        bad = ~(np.abs(found.astype(np.float64) - want.astype(np.float64)) <= limit)
    if not bad.any():
        return ""
    where = tuple(int(axis[0]) for axis in np.nonzero(bad)) if bad.ndim else ()
    return (
        f"differs in {int(bad.sum())} of {bad.size} elements, first at {where}: {found[where]!r}, not {want[where]!r}"
    )


def canonical(values: Array) -> Array:
    """The bits of `values` as unsigned integers, every NaN made the quiet one."""
    if values.dtype.kind != "f":
        return np.ascontiguousarray(values)
    clean = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    return np.ascontiguousarray(clean).view(f"u{values.dtype.itemsize}")


def fma32(a: Any, b: Any, c: Any) -> Array:
    """`a * b + c` in float32, rounded once, for arrays.

    The product of two float32 is exact in float64. The sum is made odd where float64 had to round it (Boldo and
    Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008), so that
    the last rounding cannot be fooled.
    """
    product = np.asarray(a, np.float32).astype(np.float64) * np.asarray(b, np.float32).astype(np.float64)
    addend = np.asarray(c, np.float32).astype(np.float64)
    product, addend = np.broadcast_arrays(product, addend)
    total = np.array(product + addend, ndmin=1)
    part = total - product
    error = (product - (total - part)) + (addend - part)
    bits = total.view(np.int64)
    inexact = (error != 0) & np.isfinite(total) & (bits & 1 == 0)
    bits += np.where(inexact, np.where((error > 0) == (total > 0), 1, -1), 0)
    with np.errstate(over="ignore"):
        return total.astype(np.float32).reshape(product.shape)


def unit32(generator: np.random.Generator, *shape: int) -> Array:
    """float32 values in [0, 1)."""
    return generator.random(shape, dtype=np.float32)


NAMES = (
    "saxpy",
    "triad",
    "transpose",
    "matmul_naive",
    "matmul_tiled",
    "reduce_sum",
    "reduce_max",
    "dot",
    "scan",
    "histogram",
    "stencil",
    "convolution",
    "life",
    "nbody",
    "mandelbrot",
    "bitonic",
    "spmv",
    "floyd_warshall",
    "fft",
    "monte_carlo",
    "gauss_seidel",
    "photo",
)


def load(name: str) -> Example:
    """The example in the file of that name, which stands beside this one."""
    example: Example = importlib.import_module(name).EXAMPLE
    return example


def kernels_of(name: str) -> list[ig.Kernel]:
    """The kernels of the file of that name, in the order written."""
    return [value for value in vars(importlib.import_module(name)).values() if isinstance(value, ig.Kernel)]


def all_examples() -> list[Example]:
    """Every example, in the order of the gallery."""
    return [load(name) for name in NAMES]
