"""The self-test that a GPU passes before it becomes the default device: a few launches whose every bit is known.

It shows that code is made, loaded and run, that arithmetic is exact where cards and their settings have been known to
differ (subnormals, division, square roots, contraction, minimum of zeros and NaN), and that a trap arrives.
"""

import warnings
from contextvars import Context

import numpy as np

import isogrid as ig
from isogrid import Dim, In, InOut, Out, f32, i32
from isogrid.launch.backends import LAST_RESORT
from isogrid.launch.devices import Device
from isogrid.launch.errors import DeviceWarning
from isogrid.support.errors import IsogridError
from isogrid.traps import KernelOverflowError


class Count(Dim):
    """Number of inputs."""


@ig.kernel(grid=Count, block=64)
def arithmetic(x: In[f32, Count], y: In[f32, Count], out: Out[f32, Count]) -> None:
    i = ig.gid()
    a, b = x[i], y[i]
    out[i] = (a * b + a) / (min(a, b) - a * 0.5) + abs(a - b) ** 2


@ig.kernel(grid=Count, block=64)
def growing(x: InOut[i32, Count]) -> None:
    i = ig.gid()
    x[i] = x[i] * 3


def passes(device: str) -> bool:
    """Whether the device computes as it must; says once what it did otherwise."""
    try:
        # Outside of whatever its first user is in: a recording, options of a scope.
        trouble = Context().run(_trouble, device)
    except (IsogridError, MemoryError) as error:
        trouble = str(error).strip().splitlines()[0]
    if trouble:
        warnings.warn(
            f"{device} failed its self-test and is not the default device: {trouble}", DeviceWarning, stacklevel=2
        )
    return not trouble


def _trouble(device: str) -> str:
    on = Device(device)
    special = np.array([0.0, -0.0, 1.0, -1.5, 0.1, 3e-39, -1e-45, 1e38, 3e38, np.inf, -np.inf, np.nan], np.float32)
    x, y = (part.reshape(-1).copy() for part in np.meshgrid(special, special))
    got, want = np.zeros_like(x), np.zeros_like(x)
    arithmetic.on(on)(x, y, got)
    arithmetic.on(Device(LAST_RESORT))(x, y, want)
    same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
    if not same.all():
        at = int(np.flatnonzero(~same)[0])
        return f"for {x[at]!r} and {y[at]!r} it computes {got[at]!r} and not {want[at]!r}"
    numbers = np.full(100, 5, np.int32)
    numbers[70] = 2**30
    try:
        growing.on(on)(numbers)
    except KernelOverflowError:
        return "" if numbers[0] == 5 and numbers[70] == 2**30 else "a trap changed an array"
    return "an overflow was not noticed"
