"""What the launcher and offloaded functions tell a device of the calls that a native stub is for."""

from collections.abc import Callable
from typing import Any, Protocol

from isogrid.frontend.definition import Definition, Specialisation
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.support.records import dataclass


class LaunchPlan(Protocol):
    """How a kernel was declared and specialised, the object by which a stub says that it did nothing, and how many
    threads, rows or groups it may launch. `open_extents` are dimensions that the launch gives behind the arguments."""

    @property
    def definition(self) -> Definition: ...
    @property
    def specialisation(self) -> Specialisation: ...
    @property
    def unusual(self) -> Any: ...
    @property
    def most_units(self) -> int | None: ...
    @property
    def open_extents(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class PartPlan:
    """One value per block of a reducing loop: the array that takes them, and the artifact of the kernel that folds
    `values` to `blocks`, each as named there."""

    array: str
    type: Scalar
    fold: Any
    values: str
    blocks: str


@dataclass(frozen=True, slots=True)
class TotalPlan:
    """`start op` the folded values, as a number of `type`. The total of an `exact` sum is judged; `parts` are places in
    the list of parts: two of them are sums of low and of high words."""

    op: str
    type: Scalar
    start: Any
    exact: bool
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReducingCall:
    """A whole call of an offloaded function that is one reducing loop.

    `scalars` are values of parameters that the caller does not give; `blocks` computes the dimension `blocks_name`. The
    call gives the totals at the places `outputs`, one or (`gives_tuple`) as a tuple; or, where `finish` is given, what
    that says to all totals and the tuple of arguments. `slow` takes over a call that is not plainly usual, or for which
    `finish` gives the object `again`.
    """

    definition: Definition
    specialisation: Specialisation
    scalars: tuple[tuple[str, Scalar, Any], ...]
    blocks_name: str
    blocks: k.Expr
    parts: tuple[PartPlan, ...]
    totals: tuple[TotalPlan, ...]
    outputs: tuple[int, ...]
    gives_tuple: bool
    finish: Callable[..., Any] | None
    slow: Callable[..., Any]
    again: object
