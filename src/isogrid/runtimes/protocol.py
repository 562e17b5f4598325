"""What the launcher and a device agree on: a launch with everything bound, and the two calls every runtime answers."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol

import numpy as np

from isogrid.ir import kernel as k
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class BoundLaunch:
    """A checked launch: every dimension has its size, every array is C-contiguous host memory of the right dtype.

    `extents` are the evaluated `Geometry.extents` (threads for "grid", groups for "groups"), none of them zero.
    `scalars` holds Python ints, bools and NumPy float scalars of the parameters' types.
    """

    arrays: Mapping[str, "np.ndarray[Any, Any]"]
    scalars: Mapping[str, Any]
    dims: Mapping[str, int]
    extents: tuple[int, ...]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def groups(self, geometry: k.Geometry) -> tuple[int, ...]:
        """Number of groups along each axis (padding included)."""
        if geometry.kind == "groups":
            return self.extents
        return tuple(-(-e // b) for e, b in zip(self.extents, geometry.block, strict=True))

    def threads(self, geometry: k.Geometry, grouped: bool) -> tuple[int, ...]:
        """Threads along each axis: the grid, or whole groups where the kernel is grouped."""
        if geometry.kind == "grid" and not grouped:
            return self.extents
        return tuple(g * b for g, b in zip(self.groups(geometry), geometry.block, strict=True))


@dataclass(frozen=True, slots=True)
class Presence:
    """The devices of one family on this machine. Without any, `reason` and `remedy` say in words why and what to do."""

    names: tuple[str, ...]
    reason: str = ""
    remedy: str = ""


class Runtime(Protocol):
    """A device. `compile` may raise `KernelRefused` or `KnownLimit`; `launch` raises a `Trap`, arrays restored."""

    name: str

    def compile(self, kernel: k.Kernel, options: Mapping[str, Any]) -> Any:
        """Make an artifact for this fully specialised kernel."""
        ...

    def launch(self, artifact: Any, bound: BoundLaunch) -> None:
        """Run the whole launch and return when it is done."""
        ...
