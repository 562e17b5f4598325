"""The first checks of a launch: argument count and names, then dtypes, then ranks. Types of generics come out here."""

from collections.abc import Mapping, Sequence
from typing import Any

from isogrid.frontend.definition import NO_DEFAULT, ArrayDeclaration, Definition, Generic, ScalarDeclaration
from isogrid.ir.types import Access, Scalar
from isogrid.launch.arrays import Array, NotAnArray, as_array
from isogrid.launch.errors import LaunchTypeError
from isogrid.launch.scalars import generic_member, scalar_argument
from isogrid.support.records import dataclass
from isogrid.support.shown import nearest


@dataclass(frozen=True, slots=True)
class Arguments:
    """Typed arguments of one launch.

    `arrays` have the ranks of their parameters (absent optional ones are missing), `scalars` are values of the types,
    `types` gives each type variable its member and `elements` each array its element type.
    """

    arrays: dict[str, Array]
    scalars: dict[str, Any]
    types: dict[str, Scalar]
    elements: dict[str, Scalar]
    absent: frozenset[str]


def match_arguments(
    definition: Definition, fixed: Mapping[str, Any], positional: Sequence[Any], keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """Values by parameter name; `fixed` ones were bound before, and positional arguments fill the others in order."""
    name = definition.name
    known = [p.name for p in definition.parameters]
    names = [n for n in known if n not in fixed]
    if len(positional) > len(names):
        raise LaunchTypeError(
            f"{name}() takes {_count(len(names))} but {len(positional)} were given: {_signature(names)}"
        )
    values = dict(fixed) | dict(zip(names, positional, strict=False))
    for keyword, value in keywords.items():
        if keyword not in known:
            close = nearest(keyword, known)
            hint = f"; did you mean `{close}`?" if close else f"; it takes {_signature(names)}"
            raise LaunchTypeError(f"{name}() has no parameter `{keyword}`{hint}")
        if keyword in values:
            how = "bound before" if keyword in fixed else "given twice"
            raise LaunchTypeError(f"{name}() got argument `{keyword}`, which was {how}")
        values[keyword] = value
    missing = [p.name for p in definition.parameters if p.name not in values and p.default is NO_DEFAULT]
    if missing:
        listed = ", ".join(f"`{m}`" for m in missing)
        raise LaunchTypeError(f"{name}() misses {listed}: it takes {_signature(names)}")
    for parameter in definition.parameters:
        values.setdefault(parameter.name, parameter.default)
    return values


def type_arguments(definition: Definition, values: Mapping[str, Any], device: str) -> Arguments:
    """Check dtypes, settle generics (by the arrays first), convert scalars, then check ranks."""
    arrays: dict[str, Array] = {}
    types: dict[str, Scalar] = {}
    elements: dict[str, Scalar] = {}
    absent: set[str] = set()
    decided: dict[str, str] = {}
    for parameter in definition.parameters:
        if not isinstance(parameter, ArrayDeclaration):
            continue
        value = values[parameter.name]
        if value is None and parameter.optional:
            absent.add(parameter.name)
            continue
        try:
            array = as_array(value, device)
        except NotAnArray as fault:
            raise LaunchTypeError(f"argument `{parameter.name}` of {definition.name}() {fault}") from None
        element = _element(definition, parameter, array, types, decided)
        elements[parameter.name] = element
        arrays[parameter.name] = array
    scalars = _scalars(definition, values, types)
    for generic in definition.generics:  # one that only absent arrays use
        types.setdefault(generic.name, generic.members[0])
    for parameter in definition.parameters:
        if parameter.name in arrays and isinstance(parameter, ArrayDeclaration):
            arrays[parameter.name] = _ranked(definition, parameter, arrays[parameter.name])
    return Arguments(arrays, scalars, types, elements, frozenset(absent))


def _element(
    definition: Definition,
    parameter: ArrayDeclaration,
    array: Array,
    types: dict[str, Scalar],
    decided: dict[str, str],
) -> Scalar:
    given = array.dtype.newbyteorder("=")
    where = f"argument `{parameter.name}` of {definition.name}()"
    if given.hasobject:
        raise LaunchTypeError(f"{where} holds Python objects; convert it, e.g. with `.astype(np.float32)`")
    if isinstance(parameter.element, Scalar):
        if not parameter.element.is_numpy(given):
            raise LaunchTypeError(
                f"{where} holds {given.name}, and the parameter is "
                f"{parameter.access.value}[{parameter.element.value}]; "
                f"convert it with `.astype({parameter.element.numpy_name})`"
            )
        return parameter.element
    generic = parameter.element
    settled = types.get(generic.name)
    if settled is not None:
        if not settled.is_numpy(given):
            raise LaunchTypeError(
                f"{where} holds {given.name}, but `{generic.name}` is {settled.value} "
                f"because of argument `{decided[generic.name]}`"
            )
        return settled
    for member in generic.members:
        if member.is_numpy(given):
            types[generic.name] = member
            decided[generic.name] = parameter.name
            return member
    members = ", ".join(member.value for member in generic.members)
    raise LaunchTypeError(f"{where} holds {given.name}, and `{generic.name}` is one of {members}")


def _scalars(definition: Definition, values: Mapping[str, Any], types: dict[str, Scalar]) -> dict[str, Any]:
    scalars: dict[str, Any] = {}
    for parameter in definition.parameters:
        if not isinstance(parameter, ScalarDeclaration):
            continue
        value = values[parameter.name]
        kind = parameter.type
        if isinstance(kind, Generic):
            if kind.name not in types:
                types[kind.name] = generic_member(definition.name, parameter.name, kind, value)
            kind = types[kind.name]
        scalars[parameter.name] = scalar_argument(definition.name, parameter.name, kind, value)
    return scalars


def _ranked(definition: Definition, parameter: ArrayDeclaration, array: Array) -> Array:
    rank = len(parameter.shape)
    if array.ndim == rank:
        return array
    where = f"argument `{parameter.name}` of {definition.name}()"
    wanted = f"the parameter has {_axes(rank)}"
    if array.ndim == 0:
        raise LaunchTypeError(f"{where} is a 0-d array, and {wanted}; pass it with `.reshape({', '.join('1' * rank)})`")
    if rank != 1:
        raise LaunchTypeError(f"{where} has {_axes(array.ndim)}, and {wanted}")
    if not array.flags.c_contiguous:
        hint = "np.ascontiguousarray(...)" if parameter.access is Access.IN else "a C-contiguous array"
        raise LaunchTypeError(
            f"{where} has {_axes(array.ndim)} and is not C-contiguous, so it cannot stand for one axis; pass {hint}"
        )
    return array.reshape(-1)


def _count(number: int) -> str:
    return f"{number} argument{'' if number == 1 else 's'}"


def _axes(number: int) -> str:
    return f"{number} {'axis' if number == 1 else 'axes'}"


def _signature(names: Sequence[str]) -> str:
    return "(" + ", ".join(names) + ")"
