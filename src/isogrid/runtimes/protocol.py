"""What the launcher and a device agree on: a launch with everything bound, and the two calls every runtime answers."""

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol

from isogrid.ir import kernel as k
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class BoundLaunch:
    """A checked launch: every dimension has its size, every array is C-contiguous and of the right dtype.

    `arrays` are NumPy arrays; a device that has memory of its own also gets its arrays there (`isogrid.arrays`).
    `stream` is what the caller named, or None; `wait` False lets a launch on foreign arrays return before its traps are
    known. `extents` are the evaluated `Geometry.extents` (threads for "grid", groups for "groups"), none of them zero.
    `scalars` holds Python ints, bools and NumPy float scalars of the parameters' types.
    """

    arrays: Mapping[str, Any]
    scalars: Mapping[str, Any]
    dims: Mapping[str, int]
    extents: tuple[int, ...]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    stream: Any = None
    wait: bool = True

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
    """The devices of one family on this machine. Without any, `reason` and `remedy` say in words why and what to do.

    One that `needs_self_test` becomes the default device only after that.
    """

    names: tuple[str, ...]
    reason: str = ""
    remedy: str = ""
    needs_self_test: bool = False


def is_small(kernel: k.Kernel, bound: BoundLaunch) -> bool:
    """Whether no size, product, thread count or checked integer argument of this launch reaches 2^31."""
    sizes = [*bound.dims.values(), *bound.extents, *(array.size for array in bound.arrays.values())]
    sizes.append(math.prod(bound.threads(kernel.geometry, kernel.grouped)))
    # Modular integers (`w32`, `w64`) are not counted: no proof assumes that they are small.
    checked = [p.name for p in kernel.parameters if isinstance(p, k.ScalarParameter) and p.type.is_checked]
    sizes.extend(abs(int(bound.scalars[name])) for name in checked)
    return max(sizes) < 1 << 31


class Runtime(Protocol):
    """A device. `compile` may raise `KernelRefused` or `KnownLimit`; `launch` raises a `Trap`, arrays restored."""

    name: str

    def compile(self, kernel: k.Kernel, options: Mapping[str, Any]) -> Any:
        """Make an artifact for this fully specialised kernel."""
        ...

    def launch(self, artifact: Any, bound: BoundLaunch) -> None:
        """Run the whole launch and return when it is done."""
        ...
