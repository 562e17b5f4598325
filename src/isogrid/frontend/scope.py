"""The state of one build: where statements go, what names mean here, which are assigned, and what was refused."""

import ast
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Final, NoReturn, TypeAlias

from isogrid.diagnostics.report import Label, Remedy, Report
from isogrid.diagnostics.span import Span
from isogrid.frontend import source
from isogrid.frontend.capture import Captured
from isogrid.frontend.captures import Captures
from isogrid.frontend.definition import Definition, Specialisation
from isogrid.frontend.inference import Inference, Key, Knowledge
from isogrid.frontend.values import POISON, ArrayValue, Value
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.support.records import dataclass


class RefusedError(Exception):
    """Ends the evaluation of one expression or statement after its report was filed."""


# --- what a local name is bound to ------------------------------------------------------------------------------------

#: Calls around a finding that are shown at either end of a long chain.
_SHOWN_CALLS = 4


@dataclass(frozen=True, slots=True)
class Variable:
    """A scalar local: `name` in the IR, `key` for its type."""

    name: str
    key: Key


@dataclass(frozen=True, slots=True)
class VariableTuple:
    """A local that holds a tuple: one local per component."""

    items: tuple["Binding", ...]


@dataclass(frozen=True, slots=True)
class Fixed:
    """A local that stands for something known at compile time: an array, a row, a dtype, a helper."""

    value: Value
    span: Span


Binding: TypeAlias = Variable | VariableTuple | Fixed


@dataclass(slots=True)
class Loop:
    """A loop around the present statement. Unrolled loops have labels to leave; real ones use `break`, `continue`."""

    break_label: str | None = None
    continue_label: str | None = None
    break_flows: list[set[str] | None] = field(default_factory=list[set[str] | None])
    continue_flows: list[set[str] | None] = field(default_factory=list[set[str] | None])
    used_labels: set[str] = field(default_factory=set[str])


@dataclass(slots=True)
class Returns:
    """What the returns of a helper do. `label` is None while its only return stands at the end."""

    label: str | None
    values: list[tuple[Value, ast.Return]] = field(default_factory=list[tuple[Value, ast.Return]])
    binding: Binding | None = None
    result: Value | None = None
    repeat_label: str | None = None
    nothing_at: Span | None = None


@dataclass(slots=True)
class Frame:
    """One function being built: the kernel, or a helper at one call.

    `flow` holds the names assigned on every path to the present statement, None where no path leads.
    """

    function: Any
    captured: Captured
    key: tuple[object, ...]
    prefix: str
    locals: frozenset[str]
    assigned_once: frozenset[str]
    caller: "Frame | None" = None
    call: ast.Call | None = None
    bindings: dict[str, Binding] = field(default_factory=dict[str, Binding])
    parameters: dict[str, Value] = field(default_factory=dict[str, Value])
    flow: set[str] | None = field(default_factory=set[str])
    loops: list[Loop] = field(default_factory=list[Loop])
    returns: Returns | None = None
    dims: dict[object, k.Expr] = field(default_factory=dict[object, k.Expr])
    types: dict[str, Scalar] = field(default_factory=dict[str, Scalar])
    depth: int = 0
    site: int = 0

    @property
    def is_kernel(self) -> bool:
        return self.caller is None


def merge(flows: Iterable[set[str] | None]) -> set[str] | None:
    """Names assigned on every one of several paths that meet; paths that nothing reaches do not count."""
    result: set[str] | None = None
    for flow in flows:
        if flow is not None:
            result = set(flow) if result is None else result & flow
    return result


# --- the builder ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AtomicUse:
    """One atomic call, for the rules that speak of all accesses of an array."""

    op: str
    text: str
    span: Span
    operands: tuple[k.Expr, ...]


class Builder:
    """Everything one round of building needs. Statements are appended to `block`."""

    def __init__(
        self,
        definition: Definition,
        specialisation: Specialisation,
        captures: Captures,
        known: Knowledge,
    ) -> None:
        self.definition: Final = definition
        self.specialisation: Final = specialisation
        self.captures: Final = captures
        self.inference: Final = Inference(known)
        self.constants: Final[dict[str, int]] = {t.name: t.values[0] for t in definition.tunables}
        self.constants.update(specialisation.constants)
        self.reports: Final[list[Report]] = []
        self.block: list[k.Statement] = []
        self.shared: Final[list[k.SharedArray]] = []
        self.tables: Final[dict[int, tuple[object, ArrayValue]]] = {}
        self.table_rows: Final[list[k.Table]] = []
        self.requires: Final[list[k.Require]] = []
        self.facts: Final[list[k.ArrayFact]] = []
        self.known_values: Final[dict[str, int | float]] = {}
        self.grouped: bool = False
        self.bare_gids: Final[list[tuple[Span, Frame]]] = []
        self.atomics: Final[dict[str, list[AtomicUse]]] = {}
        self.accesses: Final[dict[str, list[Span]]] = {}
        self.rank: int = 1
        self.block_shape: tuple[int, ...] = ()
        self.dim_names: Final[set[str]] = set()
        self.taken: Final[dict[str, int]] = {}
        self.temporaries: Final[dict[str, int]] = {}
        self.names_by_key: Final[dict[Key, str]] = {}
        self.targets: Final[dict[int, str]] = {}
        self.array_names: Final[dict[object, str]] = {}
        self.kernel_source: Captured | None = None
        self.frame: Frame

    # --- names

    def fresh(self, name: str) -> str:
        """A name that nothing else of the kernel has."""
        count = self.taken.get(name)
        if count is None:
            self.taken[name] = 1
            return name
        while f"{name}.{count}" in self.taken:
            count += 1
        self.taken[name] = count + 1
        self.taken[f"{name}.{count}"] = 1
        return f"{name}.{count}"

    def temporary(self, stem: str) -> str:
        """A name for a value that the author did not name: `stem.0`, `stem.1`..."""
        written = self.frame.prefix + stem
        count = self.temporaries.get(written, 0)
        while f"{written}.{count}" in self.taken:
            count += 1
        self.temporaries[written] = count + 1
        self.taken[f"{written}.{count}"] = 1
        return f"{written}.{count}"

    def variable(self, name: str, path: tuple[int, ...] = ()) -> Variable:
        """The IR local behind a local name of the present function (or a component of its tuple)."""
        key: Key = (self.frame.key, name, path)
        if key not in self.names_by_key:
            written = self.frame.prefix + ".".join([name, *map(str, path)])
            self.names_by_key[key] = self.fresh(written)
        return Variable(self.names_by_key[key], key)

    def array_name(self, target: str, node: ast.AST) -> str:
        """The name of a thread's own array: one per statement and inlined call."""
        key = (self.frame.key, id(node))
        if key not in self.array_names:
            self.array_names[key] = self.fresh(self.frame.prefix + target)
        return self.array_names[key]

    # --- places

    def span(self, node: ast.AST) -> Span:
        return self.frame.captured.span(node)

    def text(self, node: ast.expr) -> str:
        return source.text_of(self.frame.captured, node)

    def quoted(self, node: ast.expr) -> str:
        """The author's words for a node, between backticks."""
        return source.quoted(self.text(node))

    # --- statements

    def emit(self, statement: k.Statement) -> None:
        self.block.append(statement)

    @contextmanager
    def nested(self) -> Generator[list[k.Statement]]:
        """Collect the statements of a nested block."""
        outer, self.block = self.block, []
        try:
            yield self.block
        finally:
            self.block = outer

    @contextmanager
    def inside(self, frame: Frame) -> Generator[Frame]:
        """Build another function."""
        outer = getattr(self, "frame", None)
        self.frame = frame
        try:
            yield frame
        finally:
            if outer is not None:
                self.frame = outer

    # --- reports

    def report(
        self,
        code: str,
        title: str,
        place: ast.AST | Span,
        label: str = "",
        *,
        why: str = "",
        remedies: Sequence[str | Remedy] = (),
        secondary: Sequence[Label] = (),
    ) -> None:
        """File a report; the same finding in a helper that is inlined twice is one report."""
        span = place if isinstance(place, Span) else self.span(place)
        for earlier in self.reports:
            if (earlier.code, earlier.primary.span) == (code, span):
                return
        self.reports.append(
            Report(
                code=code,
                title=title,
                primary=Label(span, label),
                secondary=(*secondary, *self._calls()),
                why=why,
                remedies=tuple(Remedy(r) if isinstance(r, str) else r for r in remedies),
                kernel=self.definition.name,
            )
        )

    def refuse(
        self,
        code: str,
        title: str,
        place: ast.AST | Span,
        label: str = "",
        *,
        why: str = "",
        remedies: Sequence[str | Remedy] = (),
        secondary: Sequence[Label] = (),
        once: bool = False,
    ) -> NoReturn:
        """File a report and give the present expression up. What is wrong with a thing itself is said `once`, where it
        is first used."""
        if once and any((earlier.code, earlier.title) == (code, title) for earlier in self.reports):
            raise RefusedError
        self.report(code, title, place, label, why=why, remedies=remedies, secondary=secondary)
        raise RefusedError

    def give_up(self) -> NoReturn:
        """Abandon an expression that has a refused part; the report is there already."""
        raise RefusedError

    def attempt(self, action: Callable[[], Value]) -> Value:
        """The value of an action, or poison when it was refused."""
        try:
            return action()
        except RefusedError:
            return POISON

    def _calls(self) -> tuple[Label, ...]:
        """Where the present helper was called, outward."""
        labels: list[Label] = []
        frame = self.frame
        while frame.caller is not None and frame.call is not None:
            labels.append(Label(frame.caller.captured.span(frame.call), f"in this call of `{frame.function.__name__}`"))
            frame = frame.caller
        if len(labels) > 2 * _SHOWN_CALLS:
            labels[_SHOWN_CALLS:-_SHOWN_CALLS] = []
        return tuple(labels)
