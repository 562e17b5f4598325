"""What a launch settles before compilation, and which specialisations `check` looks at."""

import itertools
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import cast

from isogrid.diagnostics.report import Label, Remedy, Report
from isogrid.frontend.constants import reached_tunables
from isogrid.frontend.definition import ArrayDeclaration, Definition, Specialisation
from isogrid.frontend.geometry import constant_value
from isogrid.launch.arguments import Arguments
from isogrid.launch.geometry import DEFAULT_BLOCK, Shape
from isogrid.support.errors import KernelRefused

#: Value that `check` gives to a constant dimension, whose real one only a launch knows.
SAMPLE_EXTENT = 8


def tunable_values(definition: Definition, chosen: Mapping[str, int]) -> dict[str, int]:
    """Every tunable that the signature, the body or a helper reaches, with its chosen or default value."""
    choices = {t.name: t.values for t in definition.tunables}
    for tunable in reached_tunables(cast(FunctionType, definition.function)):
        name = tunable.name or ""
        if choices.setdefault(name, tunable.values) != tunable.values:
            raise KernelRefused([_two_tunables(definition, name, choices[name], tunable.values)])
    return {name: values[0] for name, values in choices.items()} | dict(chosen)


def _two_tunables(definition: Definition, name: str, first: tuple[int, ...], second: tuple[int, ...]) -> Report:
    return Report(
        "IG182",
        f"`{name}` names two different tunables that `{definition.name}` reaches",
        Label(definition.span),
        why=f"one has the values {first}, the other {second}, and options choose by name",
        remedies=(Remedy("rename one of them"),),
        kernel=definition.name,
    )


def specialise(
    definition: Definition, arguments: Arguments, constants: Mapping[str, int], dims: Mapping[str, int], shape: Shape
) -> Specialisation:
    """The specialisation of one launch. `constants` are the tunables."""
    settled = dict(constants) | {name: dims[name] for name in definition.constant_dims if name in dims}
    return Specialisation(
        types=tuple((generic.name, arguments.types[generic.name]) for generic in definition.generics),
        constants=tuple(sorted(settled.items())),
        absent=arguments.absent,
        kind=shape.kind if shape.open_extents else None,
        rank=shape.rank if shape.open_extents else None,
        block=shape.block if definition.block is None or shape.open_extents else None,
    )


def check_specialisations(definition: Definition, chosen: Mapping[str, int]) -> Iterator[Specialisation]:
    """Every member of every generic, with and without the optional arrays, at sample values of the rest."""
    constants = tunable_values(definition, chosen) | dict.fromkeys(definition.constant_dims, SAMPLE_EXTENT)
    optional = frozenset(p.name for p in definition.parameters if isinstance(p, ArrayDeclaration) and p.optional)
    rank = 1 if definition.extents is None else len(definition.extents)
    if definition.extents is None and definition.block is not None:
        rank = len(definition.block)
    block = (1,) * (rank - 1) + (DEFAULT_BLOCK,)
    for members in itertools.product(*(generic.members for generic in definition.generics)):
        for absent in [frozenset[str](), optional] if optional else [frozenset[str]()]:
            yield Specialisation(
                types=tuple(zip((g.name for g in definition.generics), members, strict=True)),
                constants=tuple(sorted(constants.items())),
                absent=absent,
                kind="grid" if definition.kind is None else None,
                rank=rank if definition.extents is None else None,
                block=_sample_block(definition, block, constants),
            )


def _sample_block(
    definition: Definition, default: tuple[int, ...], constants: Mapping[str, int]
) -> tuple[int, ...] | None:
    if definition.block is None:
        return default
    if definition.extents is not None:
        return None
    values = [constant_value(extent, constants) for extent in definition.block]
    return tuple(value for value in values if value is not None)
