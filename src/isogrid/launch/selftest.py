"""The self-test of a device, at its first use: a few launches whose every bit is known.

It shows that code is made, loaded and run, that arithmetic is exact where cards and their settings have been known to
differ (subnormals, division, square roots, contraction, minimum of zeros and NaN), that what stands on measurements
(`isogrid devices --exactness`) does what was measured, and that a trap arrives.
"""

import hashlib
import math
from collections.abc import Iterator
from contextvars import Context
from typing import Any, Final

import numpy as np

import isogrid as ig
from isogrid import Dim, In, InOut, Out, f16, f32, f64, i32, w32
from isogrid.launch.backends import LAST_RESORT, TRACKER
from isogrid.launch.devices import Device
from isogrid.support.errors import IsogridError
from isogrid.traps import KernelOverflowError

#: What the interpreter computes in each launch.
KNOWN: Final = {
    "arithmetic": "666cbeb67b04bd19",
    "rounding": "338ed990852685e6",
    "quotients": "263fc7ead2c910ba",
    "functions": "552ff44ab652cc73",
}


class Count(Dim):
    """Number of inputs."""


class Divisors(Dim):
    """Number of divisors."""


@ig.kernel(grid=Count, block=64)
def arithmetic(x: In[f32, Count], y: In[f32, Count], out: Out[f32, Count]) -> None:
    i = ig.gid()
    a, b = x[i], y[i]
    out[i] = (a * b + a) / (min(a, b) - a * 0.5) + abs(a - b) ** 2


@ig.kernel(grid=Count, block=64)
def rounding(x: In[f32, Count], y: In[f32, Count], wide: Out[f64, Count], half: Out[f16, Count]) -> None:
    """Numbers of 64 and 16 bits, fused products, roots, remainders."""
    i = ig.gid()
    a, b = f64(x[i]), f64(y[i])
    wide[i] = ig.fma(a, b, -1.5) / (math.sqrt(abs(b)) + a * 1.1) - a % b + f64(math.floor(y[i]))
    half[i] = f16(a * b)


@ig.kernel(grid=Count, block=64)
def quotients(x: In[f32, Count], y: In[f32, Divisors], out: Out[w32, Count]) -> None:
    """Quotients and roots in loops, which some devices compute without their divider, as one number of all bits."""
    i = ig.gid()
    bits = w32(0)
    for j in range(len(y)):
        bits = bits * 31 + ig.bitcast(w32, x[i] / y[j])
    for j in range(len(y)):
        bits = bits * 31 + ig.bitcast(w32, math.sqrt(x[i] * y[j]))
    out[i] = bits


@ig.kernel(grid=Count, block=64)
def functions(x: In[f32, Count], tangent: Out[f32, Count], root: Out[f32, Count]) -> None:
    """Functions that begin with an approximation of some devices: one in f64 and one in f32."""
    i = ig.gid()
    tangent[i] = math.tanh(x[i])
    root[i] = ig.rsqrt(x[i])


@ig.kernel(grid=Count, block=64)
def growing(x: InOut[i32, Count]) -> None:
    i = ig.gid()
    x[i] = x[i] * 3


def trouble(device: str) -> str:
    """What the device did otherwise than it must, "" if nothing."""
    try:
        # Outside of whatever its first user is in: a recording, options of a scope.
        return Context().run(_trouble, device)
    except (IsogridError, MemoryError) as error:
        return str(error).strip().splitlines()[0]


def _trouble(device: str) -> str:
    for kernel, inputs, outputs in _launches():
        got = _results(kernel, device, inputs, outputs)
        if digest(got) != KNOWN[kernel.__name__]:
            beside = LAST_RESORT if device != LAST_RESORT else TRACKER
            return _difference(kernel, inputs, got, _results(kernel, beside, inputs, outputs))
    numbers = np.full(100, 5, np.int32)
    numbers[70] = 2**30
    try:
        growing.on(Device(device))(numbers)
    except KernelOverflowError:
        return "" if numbers[0] == 5 and numbers[70] == 2**30 else "a trap changed an array"
    return "an overflow was not noticed"


def _results(kernel: Any, device: str, inputs: list[Any], outputs: list[Any]) -> list[Any]:
    results = [np.zeros_like(array) for array in outputs]
    kernel.on(Device(device))(*inputs, *results)
    for array in results:
        if array.dtype.kind == "f":
            array[np.isnan(array)] = np.nan
    return results


def digest(arrays: list[Any]) -> str:
    """All bits of some arrays; their NaNs are equal ones."""
    return hashlib.blake2b(b"".join(array.tobytes() for array in arrays), digest_size=8).hexdigest()


def _difference(kernel: Any, inputs: list[Any], got: list[Any], want: list[Any]) -> str:
    for mine, theirs in zip(got, want, strict=True):
        bits = f"u{mine.itemsize}"
        wrong = np.flatnonzero(mine.view(bits) != theirs.view(bits))
        if wrong.size:
            at = int(wrong[0])
            of = " and ".join(repr(array[at]) for array in inputs if array.shape == mine.shape)
            return f"for {of} it computes {mine[at]!r} and not {theirs[at]!r} in `{kernel.__name__}`"
    return f"its results of `{kernel.__name__}` are not those that are known"


def _launches() -> Iterator[tuple[Any, list[Any], list[Any]]]:
    """Kernels with their inputs, and arrays like their outputs."""
    special = np.array([0.0, -0.0, 1.0, -1.5, 0.1, 3e-39, -1e-45, 1e38, 3e38, np.inf, -np.inf, np.nan], np.float32)
    x, y = (part.reshape(-1).copy() for part in np.meshgrid(special, special))
    yield arithmetic, [x, y], [x]
    yield rounding, [x, y], [x.astype(np.float64), np.zeros(len(x), np.float16)]
    # The hardest divisors are just below a power of two; the dividends are any.
    some = (1 + np.arange(64, dtype=np.float32) * np.float32(0.015_551_17)).astype(np.float32)
    below = np.float32(2) - np.arange(1, 33, dtype=np.float32) * np.float32(2) ** -23
    yield quotients, [some, below], [np.zeros(64, np.uint32)]
    yield functions, [(some - np.float32(0.99)).astype(np.float32)], [some, some]
