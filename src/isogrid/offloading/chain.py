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
from isogrid.ir.types import INDEX, Access
from isogrid.ir.walk import visit
from isogrid.launch.evaluate import CannotEvaluate, evaluate
from isogrid.launch.kernel_value import OF_THE_AUTHOR
from isogrid.launch.native import native_callable
from isogrid.offloading.conclusion import Conclusion, Getter, assignments, getter, may_trap
from isogrid.offloading.execute import MANY_UPDATES, Executor, Ready, argument, host_value, ran_as
from isogrid.offloading.far_call import AGAIN
from isogrid.offloading.quick import ReducingLoop, assigns, known_scalars, reducing_loop
from isogrid.offloading.rule3_names import Reduction
from isogrid.offloading.sections import Section
from isogrid.offloading.totals import finished
from isogrid.offloading.tree import BLOCK, parts_of
from isogrid.offloading.trips import trips_of
from isogrid.support.records import dataclass

#: Most iterations of a reducing loop that has a native call.
_MOST_REDUCED: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class _Link:
    """One loop: its callable, the values that this takes behind the arguments, and what happens where it did nothing.
    `fails` says that it may end with an error, `writes` are the positions of the arguments that it changes."""

    native: Callable[..., Any]
    scalars: list[Any]
    otherwise: Callable[..., Any]
    fails: bool
    writes: tuple[int, ...]
    reductions: dict[str, Reduction]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What all loops ask of the arguments, and how together they use each array."""

    requires: tuple[k.Require, ...]
    accesses: dict[str, Access]


def chained_call(executor: Executor, slow: Callable[..., Any]) -> Callable[..., Any] | None:
    """A callable like the function that has just run, or None where some part has no quick form."""
    loops = [s for s in executor.plan.sections if s.accepted is not None]
    scalars = _scalars(executor)
    if not loops or scalars is None or executor.base.facts or executor.specialisation.absent:
        return None
    constants, late = scalars
    reductions = {name: r for loop in loops if loop.accepted for name, r in loop.accepted.reductions.items()}
    conclusion = Conclusion(executor, reductions, constants, late)
    asked = _Asked(_needed(executor, loops), _accesses(executor, loops))
    links: list[_Link] = []
    for loop in loops:
        link = _link(executor, loop, constants, None if links else asked)
        if link is None:
            return None
        links.append(link)
    return _written_out(executor, links, conclusion, slow)


def _scalars(executor: Executor) -> tuple[dict[str, Any], list[tuple[str, k.Expr]]] | None:
    """The scalars that are known before the call, and the assignments that have to wait for the loops. Names that get a
    value twice, but for a start value and its reduction, are left to the ordinary call."""
    constants: dict[str, Any] = {}
    late: list[tuple[str, k.Expr]] = []
    reduced: set[str] = set()
    for section in executor.plan.sections:
        if section.accepted is not None:
            if reduced & set(section.accepted.reductions):
                return None
            reduced |= set(section.accepted.reductions)
            continue
        if not assigns(section):
            return None
        for name, value in assignments([section]):
            if name in constants or name in reduced or name in dict(late):
                return None
            reads = {node.name for node in visit(value) if isinstance(node, k.ScalarValue)}
            known = None if reads & (reduced | set(dict(late))) else _constant(value, constants)
            if known is not None:
                constants[name] = known
            elif section is executor.plan.sections[-1] or not may_trap(value):
                late.append((name, value))
            else:
                return None  # its error comes before those of the loops behind it
    return constants, late


def _constant(value: k.Expr, constants: dict[str, Any]) -> Any:
    try:
        return evaluate(value, constants, {})
    except (CannotEvaluate, KeyError):
        return None


def _needed(executor: Executor, loops: Sequence[Section]) -> tuple[k.Require, ...]:
    """What all loops ask of the arguments: that their indices are in range, and that a native call takes their size."""
    found: dict[k.Expr, None] = {}
    for loop in loops:
        assert loop.accepted is not None
        trips = trips_of(loop.loop)
        for require in executor.requires(loop):
            found.setdefault(require.condition)
        if not isinstance(trips, k.DimValue):
            found.setdefault(k.Compare("ge", trips, k.Const(0, INDEX)))
        if loop.accepted.reductions:
            found.setdefault(k.Compare("le", trips, k.Const(_MOST_REDUCED, INDEX)))
        elif executor.gathered(loop):
            found.setdefault(k.Compare("lt", trips, k.Const(MANY_UPDATES, INDEX)))
    return tuple(k.Require(condition, "the indices of the loops") for condition in found)


def _accesses(executor: Executor, loops: Sequence[Section]) -> dict[str, Access]:
    """How the loops together use each array: what any of them writes has to be writable, and apart from the others."""
    found: dict[str, Access] = {}
    for loop in loops:
        ready = executor.kernels.get(("parallel", id(loop), True))
        for parameter in ready.program.kernel.parameters if ready is not None else ():
            if isinstance(parameter, k.ArrayParameter) and parameter.access.writes:
                found[parameter.name] = Access.INOUT
    return found


def _link(
    executor: Executor,
    loop: Section,
    constants: dict[str, Any],
    asked: _Asked | None,
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
        parameters = _with(kernel.parameters, asked.accesses)
        kernel = replace(kernel, requires=(*kernel.requires, *asked.requires), parameters=parameters)
    if accepted.reductions:
        reducing = reducing_loop(executor, loop, constants)
        trips = getter(executor, trips_of(loop.loop))
        make = getattr(runtime, "native_reduction", None)
        if reducing is None or trips is None or make is None:
            return None
        native = make(artifact, kernel, reducing.plan(_again))
        fails = ready.traps or any(r.type.is_checked and r.op in ("add", "mul") for r in accepted.reductions.values())
        otherwise = _totals_of(reducing, trips)
        return native and _Link(native, [], otherwise, fails, writes, reducing.reductions)
    scalars = known_scalars(ready, constants)
    if scalars is None:
        return None
    native = native_callable(runtime, artifact, kernel, ready.kernel.definition, executor.specialisation, used)
    return native and _Link(native, scalars, _launch_of(ready, scalars), ready.traps, writes, {})


def _again(*arguments: Any, **keywords: Any) -> Any:
    """Stands for the ordinary call inside a link: the call as a whole decides."""
    return AGAIN


def _with(parameters: tuple[k.Parameter, ...], accesses: dict[str, Access]) -> tuple[k.Parameter, ...]:
    return tuple(
        replace(p, access=accesses[p.name]) if isinstance(p, k.ArrayParameter) and p.name in accesses else p
        for p in parameters
    )


def _launch_of(ready: Ready, scalars: list[Any]) -> Callable[..., Any]:
    """The ordinary launch of a loop that no longer has anything to check."""
    kernel: Any = ready.kernel

    def launch(arguments: Sequence[Any]) -> None:
        kernel(*arguments, *scalars)

    return launch


def _totals_of(reducing: ReducingLoop, trips: Getter) -> Callable[..., Any]:
    """The same for a loop that reduces, with its totals."""
    kernel: Any = reducing.ready.kernel
    name, starts = reducing.executor.definition.name, reducing.constants

    def totals(arguments: Sequence[Any]) -> tuple[Any, ...]:
        blocks = -(-trips(arguments) // BLOCK)
        if blocks <= 0:
            return tuple(argument(r.type, starts[n]) for n, r in reducing.reductions.items())
        partials = [np.empty(blocks, type) for type in reducing.types]
        kernel(*arguments, *reducing.scalars, *partials)
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
    executor: Executor, links: Sequence[_Link], conclusion: Conclusion, slow: Callable[..., Any]
) -> Callable[..., Any]:
    saves = _saves(links, conclusion)
    values: dict[str, Any] = {
        "slow": slow, "AGAIN": AGAIN, "put_back": _put_back, "OF_THE_AUTHOR": OF_THE_AUTHOR,
        "conclude": conclusion.from_totals(), "places": saves,
    }  # fmt: skip
    lines = ["def call(*arguments, **keywords):", "    if keywords:", "        return slow(*arguments, **keywords)"]
    undo = "    put_back(arguments, places, saved)" if saves else "    pass"
    if saves:
        copies = ", ".join(f"arguments[{at}].copy()" for at in saves)
        lines += ["    try:", f"        saved = ({copies},)", "    except (AttributeError, IndexError):"]
        lines += ["        return slow(*arguments)"]
    lines.append("    try:")
    for number, link in enumerate(links):
        values[f"native_{number}"], values[f"otherwise_{number}"] = link.native, link.otherwise
        given = [f"scalar_{number}_{at}" for at in range(len(link.scalars))]
        values |= dict(zip(given, link.scalars, strict=True))
        lines.append(f"        found_{number} = native_{number}({', '.join(['*arguments', *given])})")
        lines.append(f"        if found_{number} is {'AGAIN' if link.reductions else 'not None'}:")
        if saves or number == 0:
            lines += [f"        {undo}" if saves else "            pass", "            return slow(*arguments)"]
        else:
            lines.append(f"            found_{number} = otherwise_{number}(arguments)")
    lines += _returning(executor, links, conclusion, undo)
    lines += ["    except OF_THE_AUTHOR as error:", f"    {undo}", "        raise error.with_traceback(None) from None"]
    lines += ["    except BaseException:", f"    {undo}", "        raise"]
    exec("\n".join(lines), values)
    return values["call"]


def _returning(executor: Executor, links: Sequence[_Link], conclusion: Conclusion, undo: str) -> list[str]:
    """Lines that give the result from the totals of all links."""
    totals = {name: f"found_{n}[{at}]" for n, link in enumerate(links) for at, name in enumerate(link.reductions)}
    if not executor.plan.results:
        return ["        return None"]
    returned = conclusion.returned_totals()
    if returned is not None:
        found = [totals[name] for name in returned]
        return [
            f"        return ({', '.join(found)},)" if executor.plan.returns_tuple else f"        return {found[0]}"
        ]
    given = ", ".join([*totals.values(), "arguments"])
    return [
        f"        result = conclude({given})",
        "        if result is AGAIN:",
        f"        {undo}",
        "            return slow(*arguments)",
        "        return result",
    ]


def _saves(links: Sequence[_Link], conclusion: Conclusion) -> tuple[int, ...]:
    """Positions of the arguments to copy: what is written before the last loop, or statement behind, that may fail. A
    loop restores what it wrote itself, but not where only its total fails."""
    found: set[int] = set()
    last = len(links) if conclusion.may_trap() else max((n for n, link in enumerate(links) if link.fails), default=0)
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
