"""A kernel as decorated: its signature, options and geometry, before any body is read. Plain immutable data."""

from dataclasses import field
from types import FunctionType
from typing import Any, TypeAlias

from isogrid.diagnostics.span import NOWHERE, Span
from isogrid.ir import kernel as k
from isogrid.ir.types import Access, Scalar
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Generic:
    """A `TypeVar` of the signature and the scalar types that it may stand for, in the order written."""

    name: str
    members: tuple[Scalar, ...]


ElementType: TypeAlias = Scalar | Generic

#: Stands for "no default", since None is a default of its own.
NO_DEFAULT: Any = object()


@dataclass(frozen=True, slots=True)
class ScalarDeclaration:
    name: str
    type: ElementType
    default: Any = NO_DEFAULT
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ArrayDeclaration:
    """`In[f32, H, W]`. Extents are expressions over `DimValue`s (constant dimensions and tunables included) and
    constants; `optional` marks `| None`."""

    name: str
    element: ElementType
    shape: tuple[k.Expr, ...]
    access: Access
    optional: bool = False
    default: Any = NO_DEFAULT
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


Declaration: TypeAlias = ScalarDeclaration | ArrayDeclaration


@dataclass(frozen=True, slots=True)
class Tunable:
    """A named constant that options and autotuning may choose; the first value is the default."""

    name: str
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """Everything `@ig.kernel(...)` says.

    `kind` is "grid", "groups" or None where the launch decides; `extents` are then expressions over dimensions and
    scalar parameters. `block` holds expressions over constants, tunables and constant dimensions, one per axis of the
    geometry where that is known, or None where it is open. `constant_dims` and `tunables` name the `DimValue`s that
    are settled by specialisation and not by an array's run-time size. `derived` gives dimensions declared with
    `equals=`.

    `offloaded` marks a function of `@ig.offload`: its body is what one thread does, and it may return scalars;
    `returns` is what it is annotated to return, one type for each value, or None where no annotation says.
    """

    function: FunctionType
    name: str
    parameters: tuple[Declaration, ...]
    kind: str | None
    extents: tuple[k.Expr, ...] | None
    block: tuple[k.Expr, ...] | None
    constant_dims: tuple[str, ...] = ()
    derived: tuple[tuple[str, k.Expr], ...] = ()
    tunables: tuple[Tunable, ...] = ()
    warp: int = 32
    races: Any = None
    deterministic: bool = True
    offloaded: bool = False
    returns: tuple[ElementType, ...] | None = None
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)

    @property
    def generics(self) -> tuple[Generic, ...]:
        """The type variables of the signature, each once, in order of first appearance."""
        found: dict[str, Generic] = {}
        for parameter in self.parameters:
            kind = parameter.type if isinstance(parameter, ScalarDeclaration) else parameter.element
            if isinstance(kind, Generic):
                found.setdefault(kind.name, kind)
        return tuple(found.values())


@dataclass(frozen=True, slots=True)
class Specialisation:
    """What a launch settles before compilation. All of it is part of the compile key.

    `types` maps a TypeVar's name to its member; `constants` maps constant dimensions and tunables to values; `absent`
    names the optional parameters that are None; `kind`, `rank` and `block` fill in open geometry (extents are then the
    dimensions `grid.0`, `grid.1`, ...).
    """

    types: tuple[tuple[str, Scalar], ...] = ()
    constants: tuple[tuple[str, int], ...] = ()
    absent: frozenset[str] = frozenset()
    kind: str | None = None
    rank: int | None = None
    block: tuple[int, ...] | None = None
