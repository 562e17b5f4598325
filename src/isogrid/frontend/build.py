"""`build` turns a definition and its specialisation into kernel IR, or refuses it with every report of its body.

build(define(saxpy.function, grid=N), Specialisation())  ->  ir.kernel.Kernel
"""

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import FunctionType
from typing import Final, assert_never, cast

from isogrid.diagnostics.report import Label, Remedy, Report
from isogrid.frontend import (
    atomics,
    binding,
    calls,
    expressions,
    functions,
    outside,
    preconditions,
    returned,
    statements,
)
from isogrid.frontend.captures import Captures
from isogrid.frontend.coercion import condition
from isogrid.frontend.definition import (
    ArrayDeclaration,
    Declaration,
    Definition,
    ElementType,
    Generic,
    ScalarDeclaration,
    Specialisation,
)
from isogrid.frontend.functions import FunctionText
from isogrid.frontend.geometry import constant_value
from isogrid.frontend.inference import LAST_ROUND, Knowledge
from isogrid.frontend.language import Trusted
from isogrid.frontend.preconditions import thread_dependent
from isogrid.frontend.scope import Builder, Frame, RefusedError
from isogrid.frontend.values import ArrayValue, FunctionValue, NothingValue, Typed
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Scalar, Space
from isogrid.support.errors import CompilerBug, KernelRefused
from isogrid.support.records import dataclass

#: Threads per group where neither decorator nor launch says; an ungrouped kernel cannot observe it.
DEFAULT_BLOCK: Final = 256


@dataclass(frozen=True, slots=True)
class Built:
    """A kernel and what it was built from: the constants that it used, by name and value, for `check` to list."""

    kernel: k.Kernel
    constants: tuple[tuple[str, str], ...]
    #: Locals that hold what an offloaded function returns, and whether it returns them as a tuple.
    results: tuple[k.Local, ...] = ()
    returns_tuple: bool = False


def build(definition: Definition, specialisation: Specialisation, captures: Captures | None = None) -> k.Kernel:
    """The kernel IR of one specialisation; raises `KernelRefused` with all reports of the body.

    `captures` keeps constants between builds of one kernel, so that later changes of them are not seen.
    """
    return build_with_constants(definition, specialisation, captures).kernel


def build_with_constants(
    definition: Definition, specialisation: Specialisation, captures: Captures | None = None
) -> Built:
    """As `build`, with the constants that the body used."""
    captures = Captures() if captures is None else captures
    try:
        return _build(definition, specialisation, captures)
    except RecursionError:
        raise KernelRefused([_too_deep(definition)]) from None


def _build(definition: Definition, specialisation: Specialisation, captures: Captures) -> Built:
    text = captures.text(cast(FunctionType, definition.function))
    known = Knowledge()
    for number in range(LAST_ROUND):
        builder = Builder(definition, specialisation, captures, known)
        kernel, results = _round(builder, text)
        known = builder.inference.learned()
        settled = builder.inference.is_settled()
        # Types that do not settle contradict each other, which the last round reports.
        if builder.reports and (settled or number == LAST_ROUND - 1):
            raise KernelRefused(sorted(builder.reports, key=_place))
        if settled:
            return Built(kernel, captures.listed(), results.locals, results.is_tuple)
    raise CompilerBug(f"the types of `{definition.name}` do not settle")


def _too_deep(definition: Definition) -> Report:
    return Report(
        code="IG158",
        title=f"`{definition.name}` nests deeper than Python's stack reaches",
        primary=Label(definition.span, "expressions, statements and calls of helpers are followed by recursion"),
        remedies=(
            Remedy("split long expressions and chains of helpers over several assignments"),
            Remedy("or allow more before the first launch: `sys.setrecursionlimit(10_000)`"),
        ),
        kernel=definition.name,
    )


def _place(report: Report) -> tuple[str, int, int, str]:
    span = report.primary.span
    return span.file, span.line, span.column, report.code


def _round(builder: Builder, text: FunctionText) -> tuple[k.Kernel, returned.Results]:
    """Build the whole kernel once with the types that are known so far."""
    definition, captured = builder.definition, text.captured
    tree = captured.tree
    frame = Frame(
        function=definition.function,
        captured=captured,
        key=(),
        prefix="",
        locals=frozenset(),
        assigned_once=text.assigned_once,
        types=dict(builder.specialisation.types),
    )
    builder.kernel_source = captured
    with builder.inside(frame):
        geometry = _geometry(builder)
        parameters = _parameters(builder, frame)
        head = _requires(builder, tree)
        _bind_assigned(builder, frame, text.assigned)
        results = returned.NOTHING
        if definition.offloaded:
            results = returned.build_returning_body(builder, text, head)
        else:
            statements.build_body(builder, tree, head)
        _check_whole(builder, geometry)
    if not builder.grouped:
        geometry = _threads_of(geometry)
    kernel = k.Kernel(
        name=definition.name,
        parameters=parameters,
        dims=_dims(builder, parameters, geometry),
        geometry=geometry,
        grouped=builder.grouped,
        shared=tuple(builder.shared),
        tables=tuple(builder.table_rows),
        requires=tuple(builder.requires),
        body=tuple(builder.block),
        warp=definition.warp,
        deterministic=definition.deterministic,
        races="trust" if isinstance(definition.races, Trusted) else definition.races or "prove",
        reason=definition.races.reason if isinstance(definition.races, Trusted) else "",
        facts=tuple(builder.facts),
        span=definition.span,
    )
    return kernel, results


# --- signature and geometry ------------------------------------------------------------------------------------------


def _geometry(builder: Builder) -> k.Geometry:
    definition, specialisation = builder.definition, builder.specialisation
    kind = definition.kind or specialisation.kind or "grid"
    if definition.extents is not None:
        extents = tuple(outside.substituted(builder, e) for e in definition.extents)
    else:
        extents = tuple(k.DimValue(f"grid.{axis}") for axis in range(specialisation.rank or 1))
    builder.rank = len(extents)
    builder.block_shape = _block(builder, len(extents))
    return k.Geometry(kind, extents, builder.block_shape)


def _threads_of(geometry: k.Geometry) -> k.Geometry:
    """The grid of as many threads. A kernel that is not grouped cannot tell, so its groups are only a way to say it."""
    if geometry.kind == "grid":
        return geometry
    sides = [k.Const(side, INDEX, span=e.span) for e, side in zip(geometry.extents, geometry.block, strict=True)]
    extents = tuple(
        outside.folded("mul", extent, side, INDEX, extent.span)
        for extent, side in zip(geometry.extents, sides, strict=True)
    )
    return k.Geometry("grid", extents, geometry.block)


def _block(builder: Builder, rank: int) -> tuple[int, ...]:
    """Threads per group along each axis; a block of fewer axes than the grid stands for the last ones."""
    if builder.specialisation.block is not None:
        block = builder.specialisation.block
    elif builder.definition.block is not None:
        values = [constant_value(e, builder.constants) for e in builder.definition.block]
        block = tuple(v for v in values if v is not None)
    else:
        block = (DEFAULT_BLOCK,)
    return (*(1,) * (rank - len(block)), *block)[-rank:]


def _parameters(builder: Builder, frame: Frame) -> tuple[k.Parameter, ...]:
    parameters: list[k.Parameter] = []
    builder.dim_names.update(_dim_names(builder))
    for declaration in builder.definition.parameters:
        builder.fresh(declaration.name)
        if declaration.name in builder.specialisation.absent:
            frame.parameters[declaration.name] = NothingValue()
            continue
        parameters.append(_parameter(builder, frame, declaration))
    return tuple(parameters)


def _bind_assigned(builder: Builder, frame: Frame, assigned: frozenset[str]) -> None:
    """The locals of the kernel. A scalar parameter that the body assigns is copied to one; an array is not."""
    frame.locals = frozenset(n for n in assigned if not isinstance(frame.parameters.get(n), ArrayValue | NothingValue))
    for name in [n for n in frame.parameters if n in frame.locals]:
        value = frame.parameters.pop(name)
        binding.assign_name(builder, name, value, frame.captured.tree, frame.captured.signature_span())


def _parameter(builder: Builder, frame: Frame, declaration: Declaration) -> k.Parameter:
    match declaration:
        case ScalarDeclaration(name=name, span=span):
            type = _element(builder, declaration.type)
            frame.parameters[name] = Typed(k.ScalarValue(name, type, span=span))
            return k.ScalarParameter(name, type, span=span)
        case ArrayDeclaration(name=name, span=span):
            element = _element(builder, declaration.element)
            shape = tuple(outside.substituted(builder, e) for e in declaration.shape)
            frame.parameters[name] = ArrayValue(name, element, shape, Space.GLOBAL, declaration.access)
            return k.ArrayParameter(name, element, shape, declaration.access, span=span)
        case _:
            assert_never(declaration)


def _element(builder: Builder, kind: ElementType) -> Scalar:
    match kind:
        case Scalar():
            return kind
        case Generic(name=name, members=members):
            return dict(builder.specialisation.types).get(name, members[0])
        case _:
            assert_never(kind)


def _dim_names(builder: Builder) -> Iterator[str]:
    """Every run-time dimension that the launch binds."""
    shapes = [d.shape for d in builder.definition.parameters if isinstance(d, ArrayDeclaration)]
    if builder.definition.extents is not None:
        shapes.append(builder.definition.extents)
    for shape in shapes:
        for extent in shape:
            yield from _dims_in(outside.substituted(builder, extent))


def _dims_in(expression: k.Expr) -> Iterator[str]:
    match expression:
        case k.DimValue(name=name):
            yield name
        case k.Unary(operand=operand):
            yield from _dims_in(operand)
        case k.Binary(left=left, right=right) | k.Compare(left=left, right=right) | k.Logical(left=left, right=right):
            yield from _dims_in(left)
            yield from _dims_in(right)
        case k.Cast(value=value):
            yield from _dims_in(value)
        case k.Choose(condition=test, then=then, otherwise=otherwise):
            for part in (test, then, otherwise):
                yield from _dims_in(part)
        case k.Call(arguments=parts) | k.Load(indices=parts):
            for part in parts:
                yield from _dims_in(part)
        case k.Const() | k.Local() | k.ScalarValue() | k.Query():
            pass
        case _:
            assert_never(expression)


def _dims(builder: Builder, parameters: Sequence[k.Parameter], geometry: k.Geometry) -> tuple[str, ...]:
    """The dimensions of the kernel in the order of their first appearance."""
    extents = [e for p in parameters if isinstance(p, k.ArrayParameter) for e in p.shape] + list(geometry.extents)
    extents += [r.condition for r in builder.requires]
    extents += [e for f in builder.facts for e in (f.low, f.high) if e is not None]
    found = dict.fromkeys(name for extent in extents for name in _dims_in(extent))
    return tuple(found)


# --- preconditions ---------------------------------------------------------------------------------------------------


def _requires(builder: Builder, tree: ast.FunctionDef) -> int:
    """Read the `ig.require` lines at the head of the body; gives the number of statements that are done with."""
    start = 0 if functions.docstring_of(tree) is None else 1
    done = start
    for statement in tree.body[start:]:
        call = _require_call(builder, statement)
        if call is None:
            break
        with suppress(RefusedError):
            _require(builder, call)
        done += 1
    return done


def _require_call(builder: Builder, statement: ast.stmt) -> ast.Call | None:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    if not isinstance(call.func, ast.Name | ast.Attribute):
        return None
    before = len(builder.reports)
    called = expressions.evaluate(builder, call.func)
    del builder.reports[before:]
    return call if called == FunctionValue("isogrid.require") else None


def _require(builder: Builder, call: ast.Call) -> None:
    node = calls.arguments(builder, call, ("condition",))["condition"]
    if preconditions.is_array_fact(node, builder):
        preconditions.array_fact(builder, node, call)
        return
    with builder.nested() as hoisted:
        value = expressions.evaluate(builder, node)
        test = condition(builder, value, node, "precondition")
    offender = thread_dependent(test)
    if hoisted or offender is not None:
        place = node if offender is None or not offender.span.line else offender.span
        builder.refuse(
            "IG144",
            f"the precondition {builder.quoted(node)} is not over scalars and sizes",
            place,
            "differs from thread to thread, or is read from an array",
            why="a precondition is checked once per launch, before any thread runs",
            remedies=("for a check in each thread, write `assert`",),
        )
    builder.requires.append(k.Require(test, builder.text(node), span=builder.span(call)))


# --- rules of the whole kernel ---------------------------------------------------------------------------------------


def _check_whole(builder: Builder, geometry: k.Geometry) -> None:
    binding.report_two_types(builder)
    atomics.check_atomics(builder)
    if builder.grouped and geometry.rank > 1:
        for span, _ in builder.bare_gids:
            builder.report(
                "IG142",
                f"`gid()` without an axis in a grouped kernel of {geometry.rank} dimensions",
                span,
                "which order of the padded grid?",
                why="a grouped kernel runs whole groups, and threads beyond the grid have no place in C order",
                remedies=(f"take one axis each: `{', '.join('ijk'[: geometry.rank])} = ig.gids()`",),
            )
