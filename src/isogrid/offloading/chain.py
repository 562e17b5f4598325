"""The quick call of a function of several loops: the native callable of each in turn, as one short Python function.

    found_0 = native_0(*arguments)        a loop that writes arrays; it also checks what every later loop asks for
    found_1 = native_1(*arguments)        a loop that reduces, which gives a tuple of its totals

The first callable refuses, nothing having changed, whatever the ordinary call would refuse before it begins. Where a
later loop may still fail, the arrays that were written by then are put back from copies.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, cast

import numpy as np

from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX
from isogrid.ir.walk import visit
from isogrid.launch.evaluate import CannotEvaluate, evaluate
from isogrid.launch.kernel_value import OF_THE_AUTHOR
from isogrid.launch.native import native_callable
from isogrid.offloading.conclusion import Conclusion, Getter, assignments, getter, may_trap
from isogrid.offloading.execute import MANY_UPDATES, Executor, Ready, argument, as_declared, host_value, ran_as
from isogrid.offloading.far_call import AGAIN
from isogrid.offloading.host_floats import GLOBALS
from isogrid.offloading.quick import ReducingLoop, assigns, reducing_loop
from isogrid.offloading.rule3_names import Reduction
from isogrid.offloading.sections import Section
from isogrid.offloading.totals import finished
from isogrid.offloading.tree import BLOCK, parts_of
from isogrid.offloading.trips import trips_of
from isogrid.support.records import dataclass

#: What plain numbers cannot say, or arguments that are not what they should be: the ordinary call judges them.
_ODD: Final = (ZeroDivisionError, OverflowError, AttributeError, IndexError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class _Link:
    """One loop: its callable, the locals that this takes behind the arguments, and what does the same where it did
    nothing, if something can. `fails` says that it may end with an error, `writes` are the positions of the arguments
    that it changes."""

    native: Callable[..., Any]
    scalars: tuple[k.Local, ...]
    otherwise: Callable[..., Any] | None
    fails: bool
    writes: tuple[int, ...]
    reductions: dict[str, Reduction]


def chained_call(executor: Executor, slow: Callable[..., Any]) -> Callable[..., Any] | None:
    """A callable like the function that has just run, or None where some part has no quick form."""
    loops = [s for s in executor.plan.sections if s.accepted is not None]
    scalars = _scalars(executor)
    if not loops or scalars is None or executor.base.facts or executor.specialisation.absent:
        return None
    reductions = {name: r for loop in loops if loop.accepted for name, r in loop.accepted.reductions.items()}
    asked = _needed(executor, loops)
    links: list[_Link] = []
    for loop in loops:
        link = _link(executor, loop, scalars, None if links else asked)
        if link is None:
            return None
        links.append(link)
    statements = _read_by(executor, [*scalars.early, *scalars.late])
    conclusion = Conclusion(executor, reductions, scalars.constants, statements)
    return _written_out(executor, links, scalars, conclusion, slow)


@dataclass(frozen=True, slots=True)
class _Scalars:
    """The scalar statements: values known before any call, those that the arguments give before the first loop, and
    those that wait for the loops."""

    constants: dict[str, Any]
    early: list[tuple[str, k.Expr]]
    late: list[tuple[str, k.Expr]]


def _scalars(executor: Executor) -> _Scalars | None:
    """Names that get a value twice, but for a start value and its reduction, are left to the ordinary call."""
    found = _Scalars({}, [], [])
    reduced: set[str] = set()
    for number, section in enumerate(executor.plan.sections):
        if section.accepted is not None:
            if reduced & set(section.accepted.reductions):
                return None
            reduced |= set(section.accepted.reductions)
        elif not assigns(section) or not _sorted(
            found, section, reduced, first=number == 0, last=section is executor.plan.sections[-1]
        ):
            return None
    return found


def _sorted(found: _Scalars, section: Section, reduced: set[str], first: bool, last: bool) -> bool:
    """Put the statements of a section where they belong; False where one has no place: its error would come before
    those of loops behind it, and after those of loops before it."""
    for name, value in assignments([section]):
        waiting = reduced | set(dict(found.late))
        if name in found.constants or name in dict(found.early) or name in waiting:
            return False
        reads = {node.name for node in visit(value) if isinstance(node, k.ScalarValue)}
        known = None if reads & (waiting | set(dict(found.early))) else _constant(value, found.constants)
        if known is not None:
            found.constants[name] = known
        elif not first and not last and may_trap(value):
            return False
        elif last or reads & waiting:
            found.late.append((name, value))
        else:
            found.early.append((name, value))
    return True


def _read_by(executor: Executor, statements: list[tuple[str, k.Expr]]) -> list[tuple[str, k.Expr]]:
    """The statements that the results depend on, and those that may fail."""
    needed = {local.name for local in executor.plan.results}
    found: list[tuple[str, k.Expr]] = []
    for name, value in reversed(statements):
        if name in needed or may_trap(value):
            found.append((name, value))
            needed |= {node.name for node in visit(value) if isinstance(node, k.ScalarValue)}
    return found[::-1]


def _constant(value: k.Expr, constants: dict[str, Any]) -> Any:
    try:
        return evaluate(value, constants, {})
    except (CannotEvaluate, KeyError):
        return None


def _needed(executor: Executor, loops: Sequence[Section]) -> tuple[k.Require, ...]:
    """What all loops ask of the arguments: that their indices are in range, and that no other kernel is quicker."""
    found: dict[k.Expr, None] = {}
    for loop in loops:
        assert loop.accepted is not None
        trips = trips_of(loop.loop)
        for require in executor.requires(loop):
            found.setdefault(require.condition)
        if not isinstance(trips, k.DimValue):
            found.setdefault(k.Compare("ge", trips, k.Const(0, INDEX)))
        if executor.gathered(loop):
            found.setdefault(k.Compare("lt", trips, k.Const(MANY_UPDATES, INDEX)))
    return tuple(k.Require(condition, "the indices of the loops") for condition in found)


def _link(
    executor: Executor,
    loop: Section,
    scalars: _Scalars,
    asked: tuple[k.Require, ...] | None,
) -> _Link | None:
    """The link of one loop. The first one judges the arguments by what all loops have `asked`."""
    ready, accepted = executor.kernels.get(("parallel", id(loop), True)), loop.accepted
    found = None if ready is None else ran_as(ready.kernel, executor.specialisation)
    if ready is None or found is None or accepted is None:
        return None
    runtime, artifact, used = found
    kernel, own = ready.program.kernel, executor.base.parameters
    written = {p.name for p in kernel.parameters if isinstance(p, k.ArrayParameter) and p.access.writes}
    writes = tuple(at for at, parameter in enumerate(own) if parameter.name in written)
    if asked is not None:
        kernel = as_declared(kernel, executor.base)
        kernel = replace(kernel, requires=(*kernel.requires, *asked))
    given = {*scalars.constants, *dict(scalars.early)}
    if not accepted.reductions:
        if not given >= {local.name for local in ready.program.scalars}:
            return None
        native = native_callable(runtime, artifact, kernel, ready.kernel.definition, executor.specialisation, used)
        return native and _Link(native, ready.program.scalars, _launch_of(ready), ready.traps(small=True), writes, {})
    reducing = reducing_loop(executor, loop, scalars.constants, given)
    make = getattr(runtime, "native_reduction", None)
    if reducing is None or make is None:
        return None
    native = make(artifact, kernel, reducing.plan(_again))
    fails = ready.traps(small=True) or any(
        r.type.is_checked and r.op in ("add", "mul") for r in accepted.reductions.values()
    )
    trips = getter(executor, trips_of(loop.loop))
    otherwise = None if trips is None or reducing.scalars is None else _totals_of(reducing, trips)
    more = () if reducing.fixed else ready.program.scalars
    return native and _Link(native, more, otherwise, fails, writes, reducing.reductions)


def _again(*arguments: Any, **keywords: Any) -> Any:
    """Stands for the ordinary call inside a link: the call as a whole decides."""
    return AGAIN


def _launch_of(ready: Ready) -> Callable[..., Any]:
    """The ordinary launch of a loop that no longer has anything to check."""
    kernel: Any = ready.kernel

    def launch(arguments: Sequence[Any], *scalars: Any) -> None:
        kernel(*arguments, *scalars)

    return launch


def _totals_of(reducing: ReducingLoop, trips: Getter) -> Callable[..., Any]:
    """The same for a loop that reduces, with its totals."""
    kernel: Any = reducing.ready.kernel
    name, starts = reducing.executor.definition.name, reducing.constants

    def totals(arguments: Sequence[Any], *_: Any) -> tuple[Any, ...]:
        blocks = -(-trips(arguments) // BLOCK)
        if blocks <= 0:
            return tuple(argument(r.type, starts[n]) for n, r in reducing.reductions.items())
        partials = [np.empty(blocks, type) for type in reducing.types]
        kernel(*arguments, *(reducing.scalars or ()), *partials)
        last: dict[str, Any] = {}
        for part, fold, values in zip(reducing.parts, cast(list[Any], reducing.folds), partials, strict=True):
            while values.size > 1:
                level = np.empty(-(-values.size // BLOCK), values.dtype)
                fold(values, level)
                values = level
            last[part.name] = host_value(part.type, values[0])
        return tuple(
            argument(r.type, finished(name, r, starts[n], last, parts_of(r))) for n, r in reducing.reductions.items()
        )

    return totals


# --- as one function -------------------------------------------------------------------------------------------------


def _written_out(
    executor: Executor, links: Sequence[_Link], scalars: _Scalars, conclusion: Conclusion, slow: Callable[..., Any]
) -> Callable[..., Any] | None:
    saves, names = _saves(links, conclusion), dict[str, str]()
    values: dict[str, Any] = {
        **GLOBALS, "slow": slow, "AGAIN": AGAIN, "put_back": _put_back, "OF_THE_AUTHOR": OF_THE_AUTHOR,
        "conclude": conclusion.from_totals(), "places": saves, "ODD": _ODD,
    }  # fmt: skip
    before = Conclusion(executor, {}, scalars.constants, scalars.early).written_out(names, values, "early_")
    if before is None:
        return None
    if saves:
        before.append(f"saved = ({', '.join(f'arguments[{at}].copy()' for at in saves)},)")
    lines = ["def call(*arguments, **keywords):", "    if keywords:", "        return slow(*arguments, **keywords)"]
    if before:
        lines += [
            "    try:",
            *(f"        {line}" for line in before),
            "    except ODD:",
            "        return slow(*arguments)",
        ]
    undo = "    put_back(arguments, places, saved)" if saves else "    pass"
    lines.append("    try:")
    for number, link in enumerate(links):
        values[f"native_{number}"], values[f"otherwise_{number}"] = link.native, link.otherwise
        given = "".join(f", {name}" for name in _given(number, link, scalars.constants, names, values))
        lines.append(f"        found_{number} = native_{number}(*arguments{given})")
        lines.append(f"        if found_{number} is {'AGAIN' if link.reductions else 'not None'}:")
        if saves or number == 0 or link.fails or link.otherwise is None:
            lines += [f"        {undo}", "            return slow(*arguments)"]
        else:
            lines.append(f"            found_{number} = otherwise_{number}(arguments{given})")
    lines += _returning(links, scalars, conclusion, names, values, undo)
    lines += ["    except OF_THE_AUTHOR as error:", f"    {undo}", "        raise error.with_traceback(None) from None"]
    lines += ["    except BaseException:", f"    {undo}", "        raise"]
    exec("\n".join(lines), values)
    return values["call"]


def _given(
    number: int, link: _Link, constants: dict[str, Any], names: dict[str, str], values: dict[str, Any]
) -> list[str]:
    """Python names of what a callable takes behind the arguments."""
    found: list[str] = []
    for at, local in enumerate(link.scalars):
        if local.name in constants:
            found.append(f"scalar_{number}_{at}")
            values[found[-1]] = argument(local.type, constants[local.name])
        else:
            found.append(names[local.name])
    return found


def _returning(
    links: Sequence[_Link],
    scalars: _Scalars,
    conclusion: Conclusion,
    names: dict[str, str],
    values: dict[str, Any],
    undo: str,
) -> list[str]:
    """Lines that give the result from the totals of all links, and what stands behind the loops."""
    plan = conclusion.executor.plan
    totals = {name: f"found_{n}[{at}]" for n, link in enumerate(links) for at, name in enumerate(link.reductions)}
    names.update(totals)
    given = ", ".join([*totals.values(), "arguments"])
    general = [
        f"result = conclude({given})",
        "if result is AGAIN:",
        undo,
        "    return slow(*arguments)",
        "return result",
    ]
    late = [statement for statement in conclusion.statements if statement[0] in dict(scalars.late)]
    lines = Conclusion(conclusion.executor, {}, scalars.constants, late).written_out(names, values, "late_")
    results = [names.get(local.name) for local in plan.results]
    if lines is None or None in results:
        return [f"        {line}" for line in general]
    found = f"({', '.join(map(str, results))},)" if plan.returns_tuple else [*results, None][0]
    lines.append(f"return {found}")
    if len(lines) == 1:
        return [f"        {lines[0]}"]
    inner = [f"            {line}" for line in lines]
    return ["        try:", *inner, "        except ODD:", *(f"            {line}" for line in general)]


def _saves(links: Sequence[_Link], conclusion: Conclusion) -> tuple[int, ...]:
    """Positions of the arguments to copy: what is written before the last loop, or statement behind, that may fail. A
    loop restores what it wrote itself, but not where only its total fails."""
    found: set[int] = set()
    failing = [n for n, link in enumerate(links) if link.fails or link.otherwise is None]
    last = len(links) if conclusion.may_trap() else max(failing, default=0)
    for number, link in enumerate(links):
        if number < last or (link.fails and link.reductions):
            found |= set(link.writes)
    return tuple(sorted(found))


def _put_back(arguments: Sequence[Any], places: Sequence[int], saved: Sequence[Any]) -> None:
    """Restore arrays; what is no array that a loop may write has not changed."""
    for at, copy in zip(places, saved, strict=True):
        array = arguments[at]
        if type(array) is np.ndarray and array.flags.writeable:
            array[...] = copy
