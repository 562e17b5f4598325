"""The state of one lowering: open blocks, fresh names, mutable variables and trap sites."""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from isogrid.diagnostics.report import Report
from isogrid.diagnostics.span import NOWHERE, Span
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.device import Machine
from isogrid.ir.lacking import NOTHING, Lacking
from isogrid.ir.traps import TrapSite
from isogrid.ir.types import Scalar, Space
from isogrid.lowering.machine import is_atom, literal


@dataclass(frozen=True, slots=True)
class Array:
    """What a subscript needs to know of an array: the extents as device expressions, row-major."""

    name: str
    element: Scalar
    space: Space
    extents: tuple[d.Expr, ...]


@dataclass(slots=True)
class Builder:
    """Collects statements in the innermost open block.

    `fixed` names the locals that are assigned once and dominate their reads: they become `Let`s. `pure_counters` are
    the loop counters that are only read in their loops. `taken` holds every name in use, so that fresh ones are new.
    `nonnegative` and `bounded` identify (by `id`) expressions proved not negative and `while` loops proved to end.
    """

    kernel: k.Kernel
    arrays: dict[str, Array]
    fixed: frozenset[str]
    taken: set[str]
    total_sites: Mapping[str, TrapSite]
    pure_counters: frozenset[str]
    nonnegative: frozenset[int] = frozenset()
    bounded: frozenset[int] = frozenset()
    #: Which builds of elementary functions the target prefers: `isogrid.builtins.elementary.BUILDS`.
    build: str = ""
    #: What the target cannot do, and the functions that it therefore cannot compute.
    lacking: Lacking = NOTHING
    refused: dict[str, Report] = field(default_factory=dict[str, Report])
    blocks: list[list[d.Statement]] = field(default_factory=lambda: [[]])
    variables: dict[str, Machine] = field(default_factory=dict[str, Machine])
    sites: list[TrapSite] = field(default_factory=list[TrapSite])
    buffers: list[d.Buffer] = field(default_factory=list[d.Buffer])
    counters: dict[str, d.Expr] = field(default_factory=dict[str, d.Expr])
    used_counters: set[str] = field(default_factory=set[str])
    #: Tables of elementary functions by function and table, under the names that they have in this kernel.
    function_tables: dict[str, str] = field(default_factory=dict[str, str])
    #: Whether an elementary function was put in, whose operations must be rounded as written.
    exact: bool = False
    span: Span = NOWHERE
    _numbers: dict[str, int] = field(default_factory=dict[str, int])
    _site_numbers: dict[TrapSite, int] = field(default_factory=dict[TrapSite, int])

    def emit(self, statement: d.Statement) -> None:
        self.blocks[-1].append(statement)

    def emit_all(self, statements: Iterable[d.Statement]) -> None:
        self.blocks[-1].extend(statements)

    @contextmanager
    def block(self) -> Generator[list[d.Statement]]:
        """Open a block; statements go there until the `with` ends."""
        opened: list[d.Statement] = []
        self.blocks.append(opened)
        try:
            yield opened
        finally:
            self.blocks.pop()

    def fresh(self, stem: str) -> str:
        """A name not used before, made from `stem`."""
        number = self._numbers.get(stem, 0)
        while True:
            number += 1
            name = f"{stem}.{number}"
            if name not in self.taken:
                break
        self._numbers[stem] = number
        self.taken.add(name)
        return name

    def let(self, value: d.Expr, stem: str = "t", *, start: bool = False) -> d.Value:
        """Evaluate `value` here and now."""
        name = self.fresh(stem)
        self.emit(d.Let(name, value, span=self.span, start=start))
        return d.Value(name, value.type)

    def atom(self, value: d.Expr, stem: str = "t") -> d.Expr:
        """`value` in a form that may be repeated."""
        return value if is_atom(value) else self.let(value, stem)

    def variable(self, stem: str, type: Machine) -> d.Value:
        """A fresh mutable variable."""
        name = self.fresh(stem)
        self.variables[name] = type
        return d.Value(name, type)

    def set(self, variable: d.Value, value: d.Expr) -> None:
        self.emit(d.Set(variable.name, value, span=self.span))

    def site(self, site: TrapSite) -> int:
        """The number of a trap site; equal sites share one."""
        number = self._site_numbers.get(site)
        if number is None:
            number = self._site_numbers[site] = len(self.sites)
            self.sites.append(site)
        return number

    def check(self, ok: d.Expr, site: TrapSite, *operands: d.Expr) -> None:
        """Trap at `site` unless `ok`. A check that is known to hold is not made."""
        if isinstance(ok, d.Literal) and ok.bits:
            return
        self.emit(d.Check(ok, self.site(site), operands, span=site.span))


def flat_index(builder: Builder, array: Array, indices: tuple[d.Expr, ...]) -> d.Expr:
    """The row-major element number of i64 `indices`, all in range."""
    index: d.Expr = indices[0]
    for extent, next_index in zip(array.extents[1:], indices[1:], strict=True):
        index = d.Op("iadd", (d.Op("imul", (index, extent), Machine.I64), next_index), Machine.I64, span=builder.span)
    return index


def product(factors: Iterable[d.Expr]) -> d.Expr:
    """i64 product; literal factors are multiplied now."""
    constant = 1
    rest: list[d.Expr] = []
    for factor in factors:
        if isinstance(factor, d.Literal):
            constant *= factor.bits
        else:
            rest.append(factor)
    result: d.Expr | None = None
    for factor in rest:
        result = factor if result is None else d.Op("imul", (result, factor), Machine.I64)
    if result is None:
        return literal(constant, Machine.I64)
    return result if constant == 1 else d.Op("imul", (result, literal(constant, Machine.I64)), Machine.I64)
