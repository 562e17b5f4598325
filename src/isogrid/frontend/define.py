"""`define` judges what `@ig.kernel(...)` says: signature, geometry and options. It reads nothing of the body."""

import ast
import inspect
import typing
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any, Final

from isogrid.diagnostics.report import Label, Remedy, Report
from isogrid.diagnostics.span import Span
from isogrid.frontend.annotations import AnnotationFault, Mentioned, read_parameter, scalar_type_of
from isogrid.frontend.capture import Captured, capture
from isogrid.frontend.constants import lookup, name_tunables_of
from isogrid.frontend.definition import NO_DEFAULT, ArrayDeclaration, Declaration, Definition, ElementType, Tunable
from isogrid.frontend.dims import Dim, TunableValue
from isogrid.frontend.geometry import (
    GeometryFault,
    constant_value,
    counted,
    dimension_expr,
    dimensions_in,
    extents_of,
    parts_of,
    text_of,
)
from isogrid.frontend.language import Trusted
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX
from isogrid.support.errors import KernelRefused

#: Most threads that a group may have on any device.
MAXIMUM_GROUP: Final = 1024
#: Keywords of `k.launch(...)`; a parameter of the same name could not be passed by keyword.
RESERVED: Final = frozenset({"grid", "groups", "block", "device", "stream"})


def define(
    function: FunctionType,
    *,
    grid: object = None,
    groups: object = None,
    block: object = None,
    warp: object = 32,
    races: object = None,
    deterministic: object = True,
    offloaded: bool = False,
    scope: Mapping[str, object] | None = None,
) -> Definition:
    """The definition of one kernel; raises `KernelRefused` with every fault of signature and options at once.

    `scope` holds the local variables around the decorator: string annotations may name what only they have.
    """
    return _Definer(function, dict(scope or {}), offloaded).define(grid, groups, block, warp, races, deterministic)


class _Definer:
    def __init__(self, function: FunctionType, scope: dict[str, object], offloaded: bool = False) -> None:
        self.function: Final = function
        self.offloaded: Final = offloaded
        self.scope: Final = scope
        self.captured: Final[Captured] = capture(function)
        self.reports: Final[list[Report]] = []
        self.mentioned: Final = Mentioned()

    def define(
        self, grid: object, groups: object, block: object, warp: object, races: object, deterministic: object
    ) -> Definition:
        name_tunables_of(self.function, self.scope)
        parameters = self._parameters()
        returns = self._returned_types() if self.offloaded else None
        if not self.offloaded:
            self._return_annotation()
        complete = len(parameters) == len(inspect.signature(self.function).parameters)
        kind, extents = self._geometry(grid, groups, parameters)
        dimensions = self._settled(block)
        blocks = self._block(block, extents, dimensions)
        self._options(warp, races, deterministic)
        if complete:
            self._bound(parameters, dimensions)
        if self.reports:
            raise KernelRefused(sorted(self.reports, key=_place))
        classes = [d for d in self.mentioned.dimensions.values() if not isinstance(d, TunableValue)]
        return Definition(
            function=self.function,
            name=self.function.__name__,
            parameters=tuple(parameters),
            kind=kind,
            extents=extents,
            block=blocks,
            constant_dims=tuple(d.__name__ for d in classes if d.is_constant),
            derived=tuple((d.__name__, _expression(d.equals)) for d in _in_order(classes) if d.equals is not None),
            tunables=tuple(
                Tunable(d.name or "", d.values)
                for d in self.mentioned.dimensions.values()
                if isinstance(d, TunableValue)
            ),
            warp=warp if isinstance(warp, int) else 32,
            races=races,
            deterministic=deterministic is True,
            offloaded=self.offloaded,
            returns=returns,
            span=self.captured.signature_span(),
        )

    # --- reports ------------------------------------------------------------------------------------------------

    def _report(self, code: str, title: str, span: Span, why: str = "", remedy: str = "") -> None:
        remedies = (Remedy(remedy),) if remedy else ()
        self.reports.append(Report(code, title, Label(span), why=why, remedies=remedies, kernel=self.function.__name__))

    def _decorator_span(self, keyword: str) -> Span:
        """The argument `keyword=...` of the decorator, or the name of the function if it is not written there."""
        for decorator in self.captured.tree.decorator_list:
            if isinstance(decorator, ast.Call):
                for argument in decorator.keywords:
                    if argument.arg == keyword:
                        return self.captured.span(argument)
        return self.captured.signature_span()

    # --- parameters ---------------------------------------------------------------------------------------------

    def _parameters(self) -> list[Declaration]:
        arguments = self.captured.tree.args
        for extra, what in ((arguments.vararg, "*"), (arguments.kwarg, "**")):
            if extra is not None:
                self._report(
                    "IG172",
                    f"`{what}{extra.arg}` collects arguments, which a kernel cannot",
                    self.captured.span(extra),
                    remedy="write each parameter out",
                )
        for extra in (*arguments.posonlyargs, *arguments.kwonlyargs):
            self._report(
                "IG172",
                f"`{extra.arg}` is a positional-only or keyword-only parameter",
                self.captured.span(extra),
                why="every parameter of a kernel can be passed by position and by keyword",
                remedy="drop the `/` or `*` of the signature",
            )
        defaults = [NO_DEFAULT] * len(arguments.args)
        given = self.function.__defaults__ or ()
        if given:
            defaults[-len(given) :] = given
        written = dict(
            zip([a.arg for a in arguments.args][-len(arguments.defaults) :], arguments.defaults, strict=False)
        )
        read = [
            self._parameter(a, d, written.get(a.arg))
            for a, d in zip(arguments.args, defaults[-len(arguments.args) :], strict=False)
        ]
        return [declaration for declaration in read if declaration is not None]

    def _parameter(self, argument: ast.arg, default: object, written: ast.expr | None) -> Declaration | None:
        span = self.captured.span(argument)
        name = argument.arg
        if name in RESERVED:
            self._report(
                "IG182",
                f"a parameter is called `{name}`, which is a keyword of `launch`",
                span,
                remedy=f"call it `{name}_`",
            )
            return None
        if argument.annotation is None:
            why = "a kernel is typed by its signature"
            remedy = f"write `{name}: f32` for a scalar, `{name}: In[f32, N]` for an array"
            if name in ("self", "cls"):
                called = self.function.__name__
                why = "in a class it is no method"
                remedy = f"leave `{name}` out: it takes its own arguments alone, also as `object.{called}(...)`"
            self._report("IG173", f"parameter `{name}` has no annotation", span, why=why, remedy=remedy)
            return None
        try:
            declaration = read_parameter(name, self._annotation(name), default, span, self.mentioned)
        except AnnotationFault as fault:
            place = written if fault.code == "IG181" and written is not None else _part(argument.annotation, fault.part)
            self._report(fault.code, fault.title, self.captured.span(place), fault.why, fault.remedy)
            return None
        return declaration

    def _annotation(self, name: str) -> object:
        try:
            annotation = self.function.__annotations__.get(name)
        except NameError as error:  # Python 3.14 evaluates annotations when they are first asked for
            raise AnnotationFault("IG174", f"the annotation of `{name}` cannot be evaluated: {error}") from None
        while isinstance(annotation, str):
            annotation = self._evaluated(name, annotation)
        return annotation

    def _evaluated(self, name: str, text: str) -> object:
        names = _Names(self.function, self.scope)
        try:
            code = compile(text.strip(), self.captured.file, "eval", dont_inherit=True)
            return eval(code, self.function.__globals__, names)  # type: ignore[arg-type]
        except (NameError, AttributeError, TypeError, SyntaxError, ValueError, LookupError) as error:
            raise AnnotationFault(
                "IG174",
                f"the annotation of `{name}` cannot be evaluated: {error}",
                "string annotations are evaluated with the names that the function sees",
                "import or define the name before the kernel",
            ) from None

    def _return_annotation(self) -> None:
        returns = self.captured.tree.returns
        if returns is None or (isinstance(returns, ast.Constant) and returns.value in (None, "None")):
            return
        self._report(
            "IG184",
            f"kernel `{self.function.__name__}` is annotated to return `{ast.unparse(returns)}`",
            self.captured.span(returns),
            why="a kernel returns nothing: its results are in arrays",
            remedy="write `-> None` and store the result in an `Out` array",
        )

    def _returned_types(self) -> tuple[ElementType, ...] | None:
        """What an offloaded function is annotated to return; None where nothing is said."""
        returns = self.captured.tree.returns
        if returns is None:
            return None
        try:
            annotation = self._annotation("return")
            if annotation in (None, type(None)):
                return ()
            parts = typing.get_args(annotation) if typing.get_origin(annotation) is tuple else (annotation,)
            return tuple(scalar_type_of("return", part, self.mentioned) for part in parts)
        except AnnotationFault:
            self._report(
                "IG184",
                f"`{self.function.__name__}` is annotated to return `{ast.unparse(returns)}`",
                self.captured.span(returns),
                why="an offloaded function returns scalars, or nothing",
                remedy="write `-> f32`, `-> tuple[f32, i32]` or `-> None`, and put arrays among the parameters",
            )
            return None

    # --- geometry -----------------------------------------------------------------------------------------------

    def _geometry(
        self, grid: object, groups: object, parameters: list[Declaration]
    ) -> tuple[str | None, tuple[k.Expr, ...] | None]:
        if grid is not None and groups is not None:
            self._report(
                "IG185",
                "both `grid=` and `groups=` are given",
                self._decorator_span("groups"),
                why="grid counts threads, groups counts groups of threads: either decides the other",
                remedy="keep one of them",
            )
            return None, None
        if grid is None and groups is None:
            return None, None
        kind = "grid" if grid is not None else "groups"
        span = self._decorator_span(kind)
        try:
            extents, mentioned = extents_of(grid if kind == "grid" else groups, self.function, parameters)
            for dimension in mentioned:
                self.mentioned.note(dimension)
        except GeometryFault as fault:
            code = "IG187" if fault.span.line else "IG186"
            place = fault.span if fault.span.line else span
            self._report(code, f"`{kind}=`: {fault.text}", place, remedy=fault.remedy)
            return None, None
        except AnnotationFault as fault:
            self._report(fault.code, fault.title, span, fault.why, fault.remedy)
            return None, None
        if not 1 <= len(extents) <= 3:
            self._report("IG186", f"`{kind}=` has {len(extents)} extents; a launch has 1 to 3", span)
            return None, None
        return kind, extents

    def _settled(self, block: object) -> dict[str, type[Dim] | TunableValue]:
        """All dimensions of signature, geometry and block by name; a block's own faults are reported with it."""
        parts = parts_of(block)
        try:
            for part in parts:
                self.mentioned.note(part)
        except AnnotationFault as fault:
            self._report(fault.code, fault.title, self._decorator_span("block"), fault.why, fault.remedy)
        return self.mentioned.dimensions

    def _block(
        self,
        block: object,
        extents: tuple[k.Expr, ...] | None,
        dimensions: Mapping[str, type[Dim] | TunableValue],
    ) -> tuple[k.Expr, ...] | None:
        if block is None:
            return None
        span = self._decorator_span("block")
        parts = parts_of(block)
        expressions: list[k.Expr] = []
        for part in parts:
            try:
                expression = dimension_expr(part)
            except GeometryFault as fault:
                self._report("IG188", f"`block=`: {fault.text}", span)
                return None
            if expression is None:
                self._report(
                    "IG188", f"`block=`: `{part!r}` is no constant", span, remedy="write an integer or a tunable"
                )
                return None
            for dimension in dimensions_in(part):
                if not isinstance(dimension, TunableValue) and not dimension.is_constant:
                    self._report(
                        "IG188",
                        f"`block=` depends on the size `{dimension.__name__}`",
                        span,
                        why="the threads of a group are known when the kernel is compiled",
                        remedy="use integers, tunables and dimensions declared with `const=True`",
                    )
                    return None
            expressions.append(expression)
        rank = None if extents is None else len(extents)
        if rank is not None and len(expressions) == 1:
            expressions = [*([k.Const(1, INDEX)] * (rank - 1)), *expressions]
        if rank is not None and len(expressions) != rank:
            self._report(
                "IG188",
                f"`block={text_of(block)}` has {len(parts)} entries for a launch of {counted(rank, 'extent')}",
                span,
                why="each entry of the block divides one extent of `grid=` or multiplies one of `groups=`",
                remedy="write as many entries as extents, with 1 where an axis is not needed",
            )
            return None
        if not 1 <= len(expressions) <= 3:
            self._report("IG188", f"`block={text_of(block)}` has {len(parts)} entries; a block has 1 to 3", span)
            return None
        defaults = {n: d.default for n, d in dimensions.items() if isinstance(d, TunableValue)}
        self._block_size(text_of(block), expressions, defaults, span)
        return tuple(expressions)

    def _block_size(self, text: str, block: list[k.Expr], defaults: Mapping[str, int], span: Span) -> None:
        size = 1
        for extent in block:
            try:
                value = constant_value(extent, defaults)
            except ArithmeticError as error:
                self._report("IG188", f"`block={text}`: {error}", span)
                return
            if value is None:
                return  # a constant dimension: the launch checks it
            if value < 1:
                self._report("IG188", f"`block={text}` has an extent of {value}; a block is positive", span)
                return
            size *= value
        if size > MAXIMUM_GROUP:
            self._report(
                "IG188",
                f"`block={text}` has {size} threads; a group has at most {MAXIMUM_GROUP}",
                span,
                remedy="use a smaller block and more groups",
            )

    # --- options and dimensions ---------------------------------------------------------------------------------

    def _options(self, warp: object, races: object, deterministic: object) -> None:
        if type(warp) is not int or warp not in (4, 8, 16, 32, 64):
            self._report("IG189", f"`warp={warp!r}` is not one of 4, 8, 16, 32, 64", self._decorator_span("warp"))
        if races is not None and races != "check" and not isinstance(races, Trusted):
            self._report(
                "IG190",
                f'`races={races!r}` is neither "check" nor ig.trust(...)',
                self._decorator_span("races"),
                remedy='write `races="check"` or `races=ig.trust("reason")`',
            )
        if not isinstance(deterministic, bool):
            self._report(
                "IG190",
                f"`deterministic={deterministic!r}` is neither True nor False",
                self._decorator_span("deterministic"),
            )

    def _bound(self, parameters: list[Declaration], dimensions: Mapping[str, type[Dim] | TunableValue]) -> None:
        arrays = [p for p in parameters if isinstance(p, ArrayDeclaration)]
        bound = {e.name for array in arrays for e in array.shape if isinstance(e, k.DimValue)}
        for name, dimension in dimensions.items():
            if isinstance(dimension, TunableValue) or name in bound:
                continue
            if dimension.equals is not None:
                continue  # its parts are in `dimensions` too
            self._report(
                "IG183",
                f"no array of `{self.function.__name__}` has an axis of the size `{name}`",
                self.captured.signature_span(),
                why="a dimension gets its value from the arrays of a launch",
                remedy=f"add an array with the extent `{name}`, or pass the number as a scalar",
            )
        for parameter in parameters:
            if parameter.name in dimensions:
                self._report(
                    "IG182",
                    f"`{parameter.name}` is both a parameter and a dimension of this signature",
                    parameter.span,
                    remedy="rename the parameter",
                )


class _Names(dict[str, object]):
    """Names for string annotations: the closure, then the variables around the decorator; globals come after."""

    def __init__(self, function: FunctionType, scope: dict[str, object]) -> None:
        super().__init__()
        self.function = function
        self.scope = scope

    def __missing__(self, name: str) -> object:
        if name in self.function.__code__.co_freevars:
            return lookup(self.function, name)
        if name in self.scope:
            return self.scope[name]
        raise KeyError(name)


def _part(annotation: ast.expr, part: int | None) -> ast.expr:
    """The argument of `In[...]` that a fault is about, if the annotation is written so."""
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):  # In[...] | None
        annotation = annotation.right if isinstance(annotation.left, ast.Constant) else annotation.left
    if part is None or not isinstance(annotation, ast.Subscript):
        return annotation
    arguments = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    return arguments[part] if part < len(arguments) else annotation


def _in_order(classes: Sequence[type[Dim]]) -> list[type[Dim]]:
    """The dimensions with those first that others are derived from, so that values can be found in one pass."""
    ordered: dict[str, type[Dim]] = {}

    def visit(dimension: type[Dim]) -> None:
        for part in dimensions_in(dimension.equals):
            if not isinstance(part, TunableValue):
                visit(part)
        ordered.setdefault(dimension.__name__, dimension)

    for dimension in classes:
        visit(dimension)
    return list(ordered.values())


def _expression(value: Any) -> k.Expr:
    expression = dimension_expr(value)
    assert expression is not None, "Dim.__init_subclass__ accepts only dimension expressions"
    return expression


def _place(report: Report) -> tuple[str, int, int, str]:
    span = report.primary.span
    return span.file, span.line, span.column, report.code
