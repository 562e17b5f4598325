"""Where the arrays of a call are: partial results beside the loops that make them, and copies on the host for
statements that run in sequence while the arrays are on a GPU."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isogrid.arrays.array import Array
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar, Space
from isogrid.ir.walk import visit
from isogrid.launch.backends import runtime
from isogrid.launch.create import empty


def is_far(device: str) -> bool:
    """Whether a device has memory that the processor does not read."""
    memory: Any = getattr(runtime(device), "memory", None)
    return memory is not None and not memory.is_host


def new_partials(device: str, count: int, types: Sequence[Scalar]) -> list[Any]:
    """Arrays of `count` elements that a loop leaves its partial results in."""
    if is_far(device):
        return [empty(count, type.numpy, device=device) for type in types]
    return [np.empty(count, type.numpy) for type in types]


def only_element(values: Any) -> Any:
    """The first element, on the host. Waits for a GPU, and raises what is pending there."""
    return (values.numpy() if isinstance(values, Array) else values)[0]


def wait_for(devices: set[str]) -> None:
    """Raise the first pending trap of each device, in the order of their names."""
    for name in sorted(devices):
        settle = getattr(runtime(name), "raise_pending", None)
        if settle is not None:
            settle()


def touched(block: k.Block) -> set[str]:
    """Arrays that statements read or write."""
    return {
        node.array
        for node in visit(block)
        if isinstance(node, k.Load | k.Store | k.Atomic) and node.space is Space.GLOBAL
    }


class HostCopies:
    """Arrays of a call as the CPU uses them: those on the host in place, copies of the others. An array that the
    statements do not touch is stood in for by memory that nobody reads."""

    def __init__(self, arrays: Mapping[str, Any], used: set[str]) -> None:
        self.far = {name: array for name, array in arrays.items() if isinstance(array, Array)}
        self.copies: dict[str, Any] = {
            name: array.numpy() if name in used else np.empty(array.shape, array.dtype)
            for name, array in self.far.items()
        }

    def values(self, names: Sequence[str], given: Sequence[Any]) -> list[Any]:
        """The arguments of the call, with copies in place of what is on a GPU."""
        return [self.copies.get(name, value) for name, value in zip(names, given, strict=True)]

    def write_back(self, written: set[str]) -> None:
        """Put what was written where it belongs."""
        for name in sorted(written & set(self.far)):
            self.far[name][...] = self.copies[name]
