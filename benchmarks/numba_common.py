"""What every Numba form needs: the fused multiply-add of the machine, and how a form is described."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numba.extending import intrinsic

#: Strict floats, no checks for division by zero: what Numba's manual advises for speed without changing results.
parallel = njit(parallel=True, error_model="numpy")
serial = njit(error_model="numpy")


@intrinsic
def fma(typing_context, a, b, c):
    """`a * b + c`, rounded once (Numba has no name for it on this Python)."""

    def generate(context, builder, signature, values):
        return builder.fma(*values)

    return a(a, a, a), generate


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a gallery kernel for Numba.

    `prepare(inputs)` gives a function to call and the arrays that it fills, under the names of the example. `relative`
    is the largest difference from isogrid's result in units of the largest magnitude; None asks for equal bits.
    `unequal` allows a share of elements to differ at all (escape times near the border of the set).
    """

    prepare: Callable[[Mapping[str, Any]], tuple[Callable[[], Any], Mapping[str, "np.ndarray[Any, Any]"]]]
    relative: float | None = None
    unequal: float = 0.0
