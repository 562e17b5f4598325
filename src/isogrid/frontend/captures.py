"""Constants of a kernel: what its names outside meant when it was first checked, kept for every later build."""

from collections.abc import Hashable
from dataclasses import field
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from isogrid.frontend.constants import lookup
from isogrid.support.records import dataclass

if TYPE_CHECKING:
    from isogrid.frontend.functions import FunctionText


@dataclass(slots=True)
class Captures:
    """Values read so far. One object belongs to one kernel and is passed to each of its builds."""

    values: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    texts: "dict[FunctionType, FunctionText]" = field(default_factory=dict[FunctionType, Any])
    shown: dict[str, str] = field(default_factory=dict[str, str])

    def read(self, function: FunctionType, name: str) -> Any:
        """The value of a name that is no local of `function`; raises `LookupError` if it has none."""
        key = (function, name)
        if key not in self.values:
            self.values[key] = _frozen(lookup(function, name))
        return self.values[key]

    def text(self, function: FunctionType) -> "FunctionText":
        """The source of a function, read once; raises `KernelRefused` where there is none."""
        if function not in self.texts:
            from isogrid.frontend.functions import read_function  # a kernel from the disk cache is not read

            self.texts[function] = read_function(function)
        return self.texts[function]

    def attribute(self, owner: ModuleType | type, name: str) -> Any:
        """The value of `owner.name`, for a module or class; raises `AttributeError` if it has none."""
        key = (owner, name)
        if key not in self.values:
            self.values[key] = _frozen(getattr(owner, name))
        return self.values[key]

    def note(self, name: str, text: str) -> None:
        """Remember that the constant `name` was used, for `check` to list."""
        self.shown.setdefault(name, text)

    def listed(self) -> tuple[tuple[str, str], ...]:
        """Name and value of every constant used, in the order of first use."""
        return tuple(self.shown.items())


def _frozen(value: Any) -> object:
    """A copy of a read-only array, whose memory may yet change through its base; anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    array = cast("np.ndarray[Any, Any]", value)
    if array.flags.writeable:
        return array
    copy = array.copy()
    copy.flags.writeable = False
    return copy
