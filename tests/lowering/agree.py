"""Run a kernel through the interpreter, and its lowering through the interpreter of device IR; both must agree."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.interp.device import compile_device
from isogrid.backends.interp.launch import Outcome, run_program
from isogrid.backends.interp.program import compile_program
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.verify import verify
from isogrid.lowering.lower import lower_kernel
from isogrid.runtimes.protocol import BoundLaunch


class Pair:
    """A kernel and its lowering, compiled once and launched as often as needed."""

    def __init__(self, kernel: k.Kernel, reference: k.Kernel | None = None) -> None:
        self.device = lower_kernel(kernel, LaunchFacts())
        verify(kernel)
        verify(self.device)
        self._reference = compile_program(reference or kernel, False)
        self._lowered = compile_device(self.device)

    def use(self, device: d.Kernel) -> None:
        """Compare with another lowering of the same kernel."""
        self.device = device
        self._lowered = compile_device(device)

    def compare(
        self,
        arrays: Mapping[str, "np.ndarray[Any, Any]"],
        extents: Sequence[int],
        scalars: Mapping[str, Any] | None = None,
        dims: Mapping[str, int] | None = None,
    ) -> str:
        """Launch both; the trap's text, or "" where there was none."""
        wanted = {name: array.copy() for name, array in arrays.items()}
        got = {name: array.copy() for name, array in arrays.items()}
        first = run_program(self._reference, self._bound(wanted, extents, scalars, dims))
        second = run_program(self._lowered, self._bound(got, extents, scalars, dims))
        assert _text(first) == _text(second)
        for name, array in wanted.items():
            assert same_bits(array, got[name]), f"{name}: {array!r} and {got[name]!r}"
        return _text(first)

    def _bound(
        self,
        arrays: Mapping[str, "np.ndarray[Any, Any]"],
        extents: Sequence[int],
        scalars: Mapping[str, Any] | None,
        dims: Mapping[str, int] | None,
    ) -> BoundLaunch:
        return BoundLaunch(arrays, scalars or {}, dims or {}, tuple(extents))


def same_bits(left: "np.ndarray[Any, Any]", right: "np.ndarray[Any, Any]") -> bool:
    """Equal bytes, every NaN counting as the same value."""
    if left.dtype.kind != "f":
        return bool(np.array_equal(left, right))
    nan = np.isnan(left) & np.isnan(right)
    unsigned = f"u{left.dtype.itemsize}"
    return bool(np.all(nan | (left.view(unsigned) == right.view(unsigned))))


def _text(outcome: Outcome) -> str:
    assert not outcome.findings
    return "" if outcome.trap is None else f"{type(outcome.trap).__name__}: {outcome.trap}"
