"""The checks of a launch on its arrays, in the order of the contract: byte order, read-only, extents, overlap."""

from collections.abc import Mapping
from typing import Any

from isogrid.arrays.array import Array as DeviceArray
from isogrid.frontend.definition import ArrayDeclaration, Definition
from isogrid.frontend.geometry import expression_text
from isogrid.ir import kernel as k
from isogrid.ir.types import Access
from isogrid.launch.arguments import Arguments
from isogrid.launch.errors import LaunchValueError
from isogrid.launch.evaluate import CannotEvaluate, evaluate, values_text
from isogrid.launch.overlap import Overlap, arrays_overlap, self_overlap

#: Byte sizes, shapes and threads of a launch stay below this.
TOO_MANY = 1 << 63


def bind_arrays(definition: Definition, arguments: Arguments, constants: Mapping[str, int]) -> dict[str, int]:
    """Check the arrays and give every dimension its size. `constants` are the values of tunables."""
    declared = [p for p in definition.parameters if isinstance(p, ArrayDeclaration) and p.name not in arguments.absent]
    for parameter in declared:
        _memory(definition, parameter, arguments)
    for parameter in declared:
        _writable(definition, parameter, arguments)
    dims = _dimensions(definition, declared, arguments, constants)
    for parameter in declared:
        _own_overlap(definition, parameter, arguments)
    _overlaps(definition, declared, arguments)
    return dims


def _memory(definition: Definition, parameter: ArrayDeclaration, arguments: Arguments) -> None:
    array = arguments.arrays[parameter.name]
    if isinstance(array, DeviceArray) and not array.is_packed:
        raise LaunchValueError(
            f"argument `{parameter.name}` of {definition.name}() is a strided view on {array.device}, and kernels take "
            "contiguous arrays there; pass `.copy()` of it"
        )
    if not array.dtype.isnative:
        raise LaunchValueError(
            f"argument `{parameter.name}` of {definition.name}() is not in the byte order of this machine; "
            f"convert it with `.astype(np.{array.dtype.newbyteorder('=').name})`"
        )
    if array.size * array.itemsize >= TOO_MANY:
        raise LaunchValueError(
            f"argument `{parameter.name}` of {definition.name}() has {array.size} elements, 2^63 bytes or more"
        )


def _writable(definition: Definition, parameter: ArrayDeclaration, arguments: Arguments) -> None:
    if parameter.access.writes and not arguments.arrays[parameter.name].flags.writeable:
        raise LaunchValueError(
            f"argument `{parameter.name}` of {definition.name}() is a read-only array, "
            f"and the parameter is {parameter.access.value}; pass a copy"
        )


# --- extents ---------------------------------------------------------------------------------------------------------


def _dimensions(
    definition: Definition,
    declared: list[ArrayDeclaration],
    arguments: Arguments,
    constants: Mapping[str, int],
) -> dict[str, int]:
    dims = dict(constants)
    origin: dict[str, tuple[str, int]] = {}
    for parameter in declared:
        shape = arguments.arrays[parameter.name].shape
        for axis, (extent, size) in enumerate(zip(parameter.shape, shape, strict=True)):
            if not isinstance(extent, k.DimValue) or extent.name in constants:
                continue
            if extent.name not in dims:
                dims[extent.name] = size
                origin[extent.name] = (parameter.name, axis)
            elif dims[extent.name] != size:
                _unequal(definition, parameter.name, axis, size, extent.name, origin[extent.name], dims[extent.name])
    _derived(definition, dims, origin, arguments.scalars)
    for parameter in declared:
        shape = arguments.arrays[parameter.name].shape
        for axis, (extent, size) in enumerate(zip(parameter.shape, shape, strict=True)):
            _extent(definition, parameter.name, axis, size, extent, dims)
    return dims


def _unequal(
    definition: Definition, name: str, axis: int, size: int, dimension: str, first: tuple[str, int], known: int
) -> None:
    other, other_axis = first
    here = f"axis {axis} of `{name}` has {size} elements"
    there = f"axis {other_axis} of `{other}` has {known}"
    raise LaunchValueError(f"{definition.name}(): {here} but {there}, and both are the dimension `{dimension}`")


def _derived(
    definition: Definition, dims: dict[str, int], origin: Mapping[str, tuple[str, int]], scalars: Mapping[str, Any]
) -> None:
    for name, expression in definition.derived:
        try:
            value = evaluate(expression, scalars, dims)
        except CannotEvaluate as fault:
            if name in dims:
                raise LaunchValueError(f"{definition.name}(): the dimension `{name}` has no value: {fault}") from None
            continue
        text = expression_text(expression)
        if value < 0:
            raise LaunchValueError(f"{definition.name}(): the dimension `{name}` = {text} is {value}")
        if name not in dims:
            dims[name] = value
        elif dims[name] != value:
            array, axis = origin[name]
            raise LaunchValueError(
                f"{definition.name}(): axis {axis} of `{array}` has {dims[name]} elements, and `{name}` = {text} "
                f"is {value}{_given(expression, dims, origin)}"
            )


def _extent(definition: Definition, name: str, axis: int, size: int, extent: k.Expr, dims: Mapping[str, int]) -> None:
    if isinstance(extent, k.DimValue) and extent.name in dims and dims[extent.name] == size:
        return
    try:
        value = evaluate(extent, {}, dims)
    except CannotEvaluate as fault:
        text = expression_text(extent)
        raise LaunchValueError(f"{definition.name}(): the extent `{text}` of `{name}` has no value: {fault}") from None
    if value != size:
        needs = str(value) if isinstance(extent, k.Const) else f"`{expression_text(extent)}`, which is {value}"
        raise LaunchValueError(
            f"{definition.name}(): axis {axis} of `{name}` has {size} elements, and the parameter asks for {needs}"
        )


def _given(expression: k.Expr, dims: Mapping[str, int], origin: Mapping[str, tuple[str, int]]) -> str:
    """` (R = 4, axis 0 of `y`)` for the dimensions behind a derived one."""
    parts = [f"{text}, axis {origin[n][1]} of `{origin[n][0]}`" for n, text in _values(expression, dims) if n in origin]
    return f" ({'; '.join(parts)})" if parts else ""


def _values(expression: k.Expr, dims: Mapping[str, int]) -> list[tuple[str, str]]:
    text = values_text(expression, {}, dims)
    return [(part.split(" = ")[0], part) for part in text.split(", ")] if text else []


# --- overlap ---------------------------------------------------------------------------------------------------------


def _own_overlap(definition: Definition, parameter: ArrayDeclaration, arguments: Arguments) -> None:
    array = arguments.arrays[parameter.name]
    if not parameter.access.writes or array.flags.forc:
        return
    verdict = self_overlap(array.shape, array.strides, array.itemsize)
    if verdict is not Overlap.NO:
        does = "has elements that share memory" if verdict is Overlap.YES else "may have elements that share memory"
        raise LaunchValueError(
            f"argument `{parameter.name}` of {definition.name}() {does} "
            f"(shape {array.shape}, strides {array.strides}), and the parameter is {parameter.access.value}; "
            "pass a copy"
        )


def _overlaps(definition: Definition, declared: list[ArrayDeclaration], arguments: Arguments) -> None:
    for index, first in enumerate(declared):
        for second in declared[index + 1 :]:
            if first.access is Access.IN and second.access is Access.IN:
                continue
            verdict = arrays_overlap(arguments.arrays[first.name], arguments.arrays[second.name])
            if verdict is Overlap.NO:
                continue
            share = "share memory" if verdict is Overlap.YES else "may share memory"
            written = first if first.access.writes else second
            raise LaunchValueError(
                f"arguments `{first.name}` and `{second.name}` of {definition.name}() {share}, and `{written.name}` is "
                f"{written.access.value}; pass a copy of one, or use one InOut parameter"
            )
