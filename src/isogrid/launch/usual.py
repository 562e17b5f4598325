"""Calls in other words, as native callables take them: Python numbers for NumPy scalars, positions for keywords.

A native callable takes exactly NumPy arrays and Python numbers, one for each parameter. Whatever says the same in
another way is put into these words here; what does not surely say the same goes to the slow path as it came.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from isogrid.arrays.array import Array
from isogrid.frontend.definition import NO_DEFAULT, Definition, Generic, ScalarDeclaration
from isogrid.ir.types import Scalar
from isogrid.launch.packed import ArrayUse, array_uses
from isogrid.support.records import dataclass

#: Stands for a parameter that has no argument yet.
_NOT_GIVEN: Final = object()


@dataclass(frozen=True, slots=True)
class Usual:
    """Arguments in the usual words. `changed` says that they came in others, `holder` is the device of the arrays that
    came as arrays of isogrid's own on the host, None where there are none."""

    arguments: tuple[Any, ...]
    changed: bool
    holder: str | None


@dataclass(frozen=True, slots=True)
class UsualForm:
    """What the usual words are for one kernel: the place of each name, and by place the default, the type of NumPy
    scalar that says the same as a Python number, and the array that settles the type where a type variable stands; and
    how it takes its arrays."""

    places: dict[str, int]
    defaults: tuple[Any, ...]
    scalars: tuple[type | None, ...]
    deciding: tuple[int | None, ...]
    arrays: tuple[ArrayUse, ...]

    def arranged(
        self, fixed: Mapping[str, Any], positional: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Usual | None:
        """The arguments, or None where they do not fit the parameters."""
        values = list(positional)
        if fixed or keywords or len(values) != len(self.defaults):
            filled = self._filled(fixed, values, keywords)
            if filled is None:
                return None
            values = filled
        changed, holder = len(values) != len(positional) or bool(keywords), None
        for place, value in enumerate(values):
            kind = cast(object, type(value))
            if kind is np.ndarray or kind is float or kind is int:
                continue
            if kind is Array:
                if not value.block.memory.is_host:
                    continue
                if not _is_at_hand(value) or holder not in (None, value.device):
                    return None
                holder, values[place], changed = value.device, value.host_view(), True
            elif isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
                values[place], changed = value.view(np.ndarray), True
            elif isinstance(value, np.generic) and self._says_the_same(place, kind, values) and value == value:
                values[place], changed = value.item(), True
        return Usual(tuple(values), changed, holder)

    def order(self, fixed: Mapping[str, Any], count: int, keywords: tuple[str, ...]) -> tuple[int, ...] | None:
        """Where each argument of a call with `count` positions and these keywords stands in the row of what the call
        gives, positions first, then of what is bound, then of the defaults; None where they do not fit."""
        bound = count + len(keywords)
        row = {name: bound + at for at, name in enumerate(fixed)}
        free = [name for name in self.places if name not in fixed]
        if count > len(free):
            return None
        for at, name in enumerate((*free[:count], *keywords)):
            if name in row or name not in self.places:
                return None
            row[name] = at
        for name, place in self.places.items():
            if name not in row:
                if self.defaults[place] is NO_DEFAULT:
                    return None
                row[name] = bound + len(fixed) + place
        return tuple(row[name] for name in self.places)

    def _filled(self, fixed: Mapping[str, Any], given: list[Any], keywords: Mapping[str, Any]) -> list[Any] | None:
        values = [_NOT_GIVEN] * len(self.defaults)
        for name, value in fixed.items():
            values[self.places[name]] = value
        free = [place for place, value in enumerate(values) if value is _NOT_GIVEN]
        if len(given) > len(free):
            return None
        for place, value in zip(free, given, strict=False):
            values[place] = value
        for name, value in keywords.items():
            place = self.places.get(name)
            if place is None or values[place] is not _NOT_GIVEN:
                return None
            values[place] = value
        values = [
            default if value is _NOT_GIVEN else value for value, default in zip(values, self.defaults, strict=True)
        ]
        return None if any(value is NO_DEFAULT for value in values) else values

    def _says_the_same(self, place: int, kind: object, values: list[Any]) -> bool:
        deciding = self.deciding[place]
        if deciding is None:
            return kind is self.scalars[place]
        dtype: Any = getattr(values[deciding], "dtype", None)
        return isinstance(dtype, np.dtype) and cast(Any, dtype).type is kind


def usual_form(definition: Definition) -> UsualForm:
    """How calls of this kernel are put into the usual words. A NaN keeps its bits only where it stays what it is."""
    parameters = definition.parameters
    arrays: dict[str, int] = {}
    for place, parameter in enumerate(parameters):
        if not isinstance(parameter, ScalarDeclaration) and isinstance(parameter.element, Generic):
            arrays.setdefault(parameter.element.name, place)
    scalars: list[type | None] = []
    deciding: list[int | None] = []
    for parameter in parameters:
        kind = parameter.type if isinstance(parameter, ScalarDeclaration) else None
        scalars.append(kind.numpy.type if isinstance(kind, Scalar) and kind is not Scalar.BF16 else None)
        deciding.append(arrays.get(kind.name) if isinstance(kind, Generic) else None)
    places = {parameter.name: place for place, parameter in enumerate(parameters)}
    defaults = tuple(p.default for p in parameters)
    return UsualForm(places, defaults, tuple(scalars), tuple(deciding), array_uses(definition))


#: The geometry that a launch gives: the kind and number of the extents, and the block.
OpenForm = tuple[str, int, tuple[int, ...]]


def open_form(grid: Any, groups: Any, block: Any) -> tuple[OpenForm | None, tuple[int, ...]]:
    """The form of a geometry that a launch gives, and its extents; no form where it is not plain integers."""
    kind, wanted = ("grid", grid) if grid is not None else ("groups", groups)
    extents, sides = _integers(wanted), _integers(block)
    if extents is None or sides is None or (grid is not None and groups is not None):
        return None, ()
    return (kind, len(extents), sides), extents


def _integers(value: Any) -> tuple[int, ...] | None:
    if value is None:
        return ()
    if type(value) is int:
        return (value,)
    if type(value) is not tuple:
        return None
    numbers: list[int] = []
    for number in cast("tuple[object, ...]", value):
        if type(number) is not int:
            return None
        numbers.append(number)
    return tuple(numbers)


def _is_at_hand(array: Array) -> bool:
    """Whether no trap of a launch stands behind what is in an array on the host."""
    memory: Any = array.block.memory
    return not array.block.poisons and not memory.queue.pending
