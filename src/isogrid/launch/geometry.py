"""The geometry of a launch: extents that the decorator wrote or the launch gives, the block, and their limits."""

import operator
from collections.abc import Mapping
from typing import Any, cast

from isogrid.frontend.definition import Definition
from isogrid.frontend.geometry import constant_value, counted, expression_text, parts_of
from isogrid.launch.bind import TOO_MANY
from isogrid.launch.errors import LaunchTypeError, LaunchValueError
from isogrid.launch.evaluate import CannotEvaluate, evaluate, values_text
from isogrid.support.records import dataclass
from isogrid.support.shown import shown, shown_extents

#: Most threads of a group on any device.
MAXIMUM_GROUP = 1024
#: Threads of a group where neither the decorator nor the launch decides, for kernels that cannot tell.
DEFAULT_BLOCK = 256


@dataclass(frozen=True, slots=True)
class Given:
    """What `k.launch(...)` fills in; None where the call says nothing."""

    grid: Any = None
    groups: Any = None
    block: Any = None


@dataclass(frozen=True, slots=True)
class Shape:
    """Settled geometry. `default_block` says that nobody chose the block."""

    kind: str
    extents: tuple[int, ...]
    block: tuple[int, ...]
    default_block: bool
    open_extents: bool

    @property
    def rank(self) -> int:
        return len(self.extents)

    @property
    def group_size(self) -> int:
        return _product(self.block)


def settle_geometry(
    definition: Definition,
    given: Given,
    scalars: Mapping[str, Any],
    dims: Mapping[str, int],
    most: int,
) -> Shape:
    """Evaluate and judge the geometry of one launch. `most` is the largest group that options allow."""
    kind, extents, is_open = _extents(definition, given, scalars, dims)
    block, is_default = _block(definition, given, dims, len(extents), most)
    name = definition.name
    for extent in extents:
        if extent < 0:
            raise LaunchValueError(f"{name}(): {kind}={shown_extents(extents)} has a negative extent")
    if len(block) != len(extents):
        raise LaunchValueError(
            f"{name}(): block={shown_extents(block)} has {len(block)} entries for a launch of "
            f"{counted(len(extents), 'extent')}"
        )
    for extent in block:
        if extent < 1:
            raise LaunchValueError(f"{name}(): block={shown_extents(block)} has an extent below 1")
    threads = _product(extents)
    if kind == "groups":
        threads *= _product(block)
    else:
        threads = max(threads, _product(-(-e // b) * b for e, b in zip(extents, block, strict=True)))
    if threads >= TOO_MANY:
        raise LaunchValueError(
            f"{name}(): {kind}={shown_extents(extents)} asks for {shown(threads)} threads, 2^63 or more"
        )
    return Shape(kind, extents, block, is_default, is_open)


def check_group_size(definition: Definition, shape: Shape, most: int, bound: str) -> None:
    """The device limit: refuse a group of more than `most` threads; `bound` says whose limit that is."""
    if shape.group_size > most:
        raise LaunchValueError(
            f"{definition.name}(): block={shown_extents(shape.block)} has {shown(shape.group_size)} threads, "
            f"and {bound} allows {most}"
        )


def check_given(definition: Definition, given: Given) -> None:
    """A launch may fill in only what the decorator left open."""
    for keyword, value in (("grid", given.grid), ("groups", given.groups)):
        if value is not None and definition.kind is not None:
            raise LaunchTypeError(
                f"{definition.name}(): {keyword}= cannot be given, the decorator fixes {definition.kind}="
            )
    if given.block is not None and definition.block is not None:
        raise LaunchTypeError(f"{definition.name}(): block= cannot be given, the decorator fixes it")
    if given.grid is not None and given.groups is not None:
        raise LaunchTypeError(f"{definition.name}(): both grid= and groups= are given; keep one")


def _extents(
    definition: Definition, given: Given, scalars: Mapping[str, Any], dims: Mapping[str, int]
) -> tuple[str, tuple[int, ...], bool]:
    if definition.kind is not None and definition.extents is not None:
        return definition.kind, _written(definition, scalars, dims), False
    if given.grid is None and given.groups is None:
        raise LaunchValueError(
            f"{definition.name}() leaves its geometry open; launch it with {definition.name}.launch(..., grid=...) "
            "or groups=..."
        )
    kind = "grid" if given.grid is not None else "groups"
    extents = _numbers(definition, kind, given.grid if kind == "grid" else given.groups)
    if not 1 <= len(extents) <= 3:
        raise LaunchValueError(
            f"{definition.name}(): {kind}={shown_extents(extents)} has {len(extents)} extents; 1 to 3 are allowed"
        )
    return kind, extents, True


def _written(definition: Definition, scalars: Mapping[str, Any], dims: Mapping[str, int]) -> tuple[int, ...]:
    values: list[int] = []
    for extent in definition.extents or ():
        text = expression_text(extent)
        try:
            value = int(evaluate(extent, scalars, dims))
        except CannotEvaluate as fault:
            raise LaunchValueError(
                f"{definition.name}(): the extent `{text}` of {definition.kind}= has no value: {fault}"
            ) from None
        if value < 0:
            raise LaunchValueError(
                f"{definition.name}(): the extent `{text}` of {definition.kind}= is {value}, "
                f"with {values_text(extent, scalars, dims)}"
            )
        values.append(value)
    return tuple(values)


def _block(
    definition: Definition, given: Given, dims: Mapping[str, int], rank: int, most: int
) -> tuple[tuple[int, ...], bool]:
    if definition.block is not None:
        block = tuple(_constant(definition, expression, dims) for expression in definition.block)
    elif given.block is not None:
        block = _numbers(definition, "block", given.block)
    else:
        return (1,) * (rank - 1) + (min(DEFAULT_BLOCK, most),), True
    if len(block) == 1:
        block = (1,) * (rank - 1) + block
    return block, False


def _constant(definition: Definition, expression: Any, dims: Mapping[str, int]) -> int:
    text = expression_text(expression)
    try:
        value = constant_value(expression, dims)
    except ArithmeticError as fault:
        raise LaunchValueError(f"{definition.name}(): the block `{text}` has no value: {fault}") from None
    if value is None:
        raise LaunchValueError(f"{definition.name}(): the block `{text}` has no value in this launch")
    return value


def _numbers(definition: Definition, keyword: str, given: Any) -> tuple[int, ...]:
    numbers: list[int] = []
    for part in cast(tuple[Any, ...], parts_of(given)):
        if isinstance(part, bool):
            raise LaunchTypeError(f"{definition.name}(): {keyword}={shown(given)} is no integer or tuple of integers")
        try:
            numbers.append(operator.index(part))
        except TypeError:
            raise LaunchTypeError(
                f"{definition.name}(): {keyword}={shown(given)} is no integer or tuple of integers"
            ) from None
    return tuple(numbers)


def _product(values: Any) -> int:
    result = 1
    for value in values:
        result *= value
    return result
