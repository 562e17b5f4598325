"""Parameter annotations as declarations: `a: f32`, `x: In[f32, H, W]`, `bias: In[T, C] | None`."""

import typing
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import field, replace
from types import NoneType, UnionType
from typing import Any, Final, cast

import numpy as np

from isogrid.diagnostics.span import Span
from isogrid.frontend.definition import (
    NO_DEFAULT,
    ArrayDeclaration,
    Declaration,
    ElementType,
    Generic,
    ScalarDeclaration,
)
from isogrid.frontend.dims import Dim, TunableValue, is_dimension_like
from isogrid.frontend.geometry import GeometryFault, dimension_expr, dimensions_in
from isogrid.frontend.language import DTYPES, ArrayAnnotation, In, InOut, Out, scalar_of
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.support.records import dataclass
from isogrid.support.shown import shown


@dataclass(frozen=True, slots=True)
class AnnotationFault(Exception):
    """One thing wrong with an annotation: code, sentence, reason and remedy.

    `part` says which argument of `In[...]` it is about (0 is the element type); None means the whole annotation.
    """

    code: str
    title: str
    why: str = ""
    remedy: str = ""
    part: int | None = None


@dataclass(slots=True)
class Mentioned:
    """Dimensions and type variables that a signature has used so far, by name, to notice that two share a name."""

    dimensions: dict[str, "type[Dim] | TunableValue"] = field(default_factory=dict[str, "type[Dim] | TunableValue"])
    variables: dict[str, Any] = field(default_factory=dict[str, Any])

    def note(self, extent: object) -> None:
        """Remember the dimensions of an extent; a name that means two dimensions is a fault."""
        for dimension in dimensions_in(extent):
            name = dimension.name if isinstance(dimension, TunableValue) else dimension.__name__
            other = self.dimensions.setdefault(name or "", dimension)
            if other is not dimension:
                raise AnnotationFault(
                    "IG182",
                    f"`{name}` names two different dimensions in this signature",
                    f"one is {_home(other)}, the other {_home(dimension)}",
                    "give one of them another name",
                )


def read_parameter(name: str, annotation: object, default: object, span: Span, mentioned: Mentioned) -> Declaration:
    """The declaration that one annotation makes; raises `AnnotationFault`."""
    array, optional = _without_none(name, annotation)
    if isinstance(array, ArrayAnnotation):
        return _array(name, array, optional, default, span, mentioned)
    if optional:
        raise AnnotationFault(
            "IG180",
            f"`{name}` is a scalar that may be None",
            "only arrays are optional: a kernel is specialised on their absence",
            "drop `| None` and give the scalar a default value",
        )
    kind = scalar_type_of(name, array, mentioned)
    checked = NO_DEFAULT if default is NO_DEFAULT else _scalar_default(name, kind, default)
    return ScalarDeclaration(name, kind, checked, span=span)


def _without_none(name: str, annotation: object) -> tuple[object, bool]:
    origin = typing.get_origin(annotation)
    if origin is not typing.Union and origin is not UnionType:
        return annotation, False
    members = [a for a in typing.get_args(annotation) if a is not NoneType]
    if len(members) != 1:
        raise AnnotationFault(
            "IG180",
            f"`{name}` is annotated with a union of types",
            "the only union of a signature is that of an array with None",
            "use a TypeVar for several element types, e.g. `In[ig.Real, N]`",
        )
    return members[0], True


def _array(
    name: str, annotation: ArrayAnnotation, optional: bool, default: object, span: Span, mentioned: Mentioned
) -> ArrayDeclaration:
    kind = annotation.access.value
    element, *extents = annotation.arguments or (None,)
    if not 1 <= len(extents) <= 4:
        raise AnnotationFault(
            "IG177",
            f"`{name}` has {len(extents)} extents; an array has 1 to 4",
            remedy=f"write one dimension per axis, e.g. `{kind}[f32, H, W]`",
        )
    with _about(0):
        element_type = _type(name, element, mentioned, f"the element type of `{name}`")
    shape: list[k.Expr] = []
    for axis, extent in enumerate(extents):
        with _about(axis + 1):
            shape.append(_extent(name, extent, mentioned))
    if default is not NO_DEFAULT and not (default is None and optional):
        raise AnnotationFault(
            "IG181",
            f"the array `{name}` has a default value",
            "an array has none, except that one annotated `| None` may default to None",
            f"write `{name}: {annotation!r} | None = None`" if default is None else "drop the default",
        )
    return ArrayDeclaration(name, element_type, tuple(shape), annotation.access, optional, default, span=span)


@contextmanager
def _about(part: int) -> Generator[None]:
    """Faults inside are about this argument of the annotation."""
    try:
        yield
    except AnnotationFault as fault:
        raise replace(fault, part=part) from None


def _extent(name: str, extent: object, mentioned: Mentioned) -> k.Expr:
    if typing.get_origin(extent) is typing.Literal:
        values = typing.get_args(extent)
        if len(values) != 1 or type(values[0]) is not int or values[0] < 1:
            raise AnnotationFault(
                "IG178", f"the fixed extent `{_text(extent)}` of `{name}` is not one positive integer"
            )
        extent = values[0]
    if type(extent) is int and extent < 1:
        raise AnnotationFault("IG178", f"the fixed extent {shown(extent)} of `{name}` is not positive")
    try:
        expression = dimension_expr(extent)
    except GeometryFault as fault:
        raise AnnotationFault("IG178", f"the extent `{_text(extent)}` of `{name}`: {fault.text}") from None
    if expression is None:
        raise AnnotationFault(
            "IG178",
            f"the extent `{_text(extent)}` of `{name}` is no dimension",
            "an extent is a dimension class or `Literal[4]`",
            "import one of isogrid.dims or write `class Rows(ig.Dim): ...`",
        )
    mentioned.note(extent)
    return expression


def scalar_type_of(name: str, annotation: object, mentioned: Mentioned) -> ElementType:
    """The computing type that annotates the scalar `name`; raises `AnnotationFault`."""
    if annotation is In or annotation is Out or annotation is InOut:
        raise AnnotationFault(
            "IG175",
            f"`{name}` is annotated with a bare `{_text(annotation)}`",
            "an array has an element type and extents",
            f"write `{_text(annotation)}[f32, N]`",
        )
    if is_dimension_like(annotation) or annotation is Dim:
        raise AnnotationFault(
            "IG175",
            f"`{name}` is annotated with the dimension `{_text(annotation)}`",
            "a dimension is no type; its value is known wherever the dimension is in scope",
            f"use `int({_text(annotation)})` in the body, or declare `{name}: i64`",
        )
    kind = _type(name, annotation, mentioned, f"`{name}`")
    for member in kind.members if isinstance(kind, Generic) else (kind,):
        if not member.is_computing:
            raise AnnotationFault(
                "IG176",
                f"the scalar `{name}` has the storage type {member.value}",
                f"{member.value} is for array elements; values of it are computed with as {member.computing.value}",
                f"write `{name}: {member.computing.value}`",
            )
    return kind


def _type(name: str, annotation: object, mentioned: Mentioned, subject: str) -> ElementType:
    scalar = scalar_of(annotation)
    if scalar is not None:
        return scalar
    if isinstance(annotation, typing.TypeVar):
        return _generic(annotation, mentioned, subject)
    raise AnnotationFault(
        "IG175",
        f"{subject} is annotated with `{_text(annotation)}`, which is no type of the language",
        *_advice(annotation),
    )


def _generic(variable: typing.TypeVar, mentioned: Mentioned, subject: str) -> Generic:
    name = variable.__name__
    if mentioned.variables.setdefault(name, variable) is not variable:
        raise AnnotationFault("IG182", f"`{name}` names two different type variables in this signature")
    members = tuple(scalar_of(member) for member in variable.__constraints__)
    known = tuple(member for member in members if member is not None)
    if not members or len(known) != len(members):
        raise AnnotationFault(
            "IG179",
            f"the type variable `{name}` of {subject} does not list types of the language",
            "a generic kernel is checked for every member",
            f'write `{name} = TypeVar("{name}", f32, f64)`, or use ig.Real or ig.Int',
        )
    return Generic(name, known)


_ADVICE: Final[dict[object, str]] = {
    float: "write f32 or f64",
    int: "write i32 or i64",
    complex: "keep real and imaginary parts in two arrays",
    np.ndarray: "write `In[f32, N]`, `Out[f32, N]` or `InOut[f32, N]`",
    list: "write `In[f32, N]`, and pass np.asarray(values)",
    str: "kernels compute with numbers only",
}


def _advice(annotation: object) -> tuple[str, str]:
    if isinstance(annotation, type):
        if issubclass(annotation, np.generic):
            for name, dtype in DTYPES.items():
                if dtype.scalar is not Scalar.BF16 and dtype.scalar.numpy.type is annotation:
                    return "", f"write {name}"
        if annotation in _ADVICE:
            return "", _ADVICE[annotation]
    return "", "write bool, i32, i64, u32, u64, w32, w64, f32, f64, or an array `In[f32, N]`"


def _scalar_default(name: str, kind: ElementType, default: object) -> object:
    for member in kind.members if isinstance(kind, Generic) else (kind,):
        if not holds(member, default):
            raise AnnotationFault(
                "IG181",
                f"the default {shown(default)} of `{name}` is no {member.value}",
                remedy=f"write a default that {member.value} holds",
            )
    return default


def holds(scalar: Scalar, value: object) -> bool:
    """Whether a Python or NumPy number may be passed for a scalar of this type, apart from rounding of floats."""
    if scalar is Scalar.BOOL:
        return isinstance(value, bool | np.bool_)
    if isinstance(value, np.generic):
        return type(cast(object, value)) is scalar.numpy.type
    if scalar.is_float:
        return type(value) in (int, float)
    return type(value) is int and scalar.holds(value)


def _home(dimension: "type[Dim] | TunableValue") -> str:
    if isinstance(dimension, TunableValue):
        return f"the tunable {dimension.values}"
    return f"{dimension.__module__}.{dimension.__qualname__}"


def _text(value: object) -> str:
    if typing.get_origin(value) is typing.Literal:
        return f"Literal[{', '.join(map(shown, typing.get_args(value)))}]"
    return value.__name__ if isinstance(value, type) else shown(value)
