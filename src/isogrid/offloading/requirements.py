"""The preconditions of an offloaded function, checked once per call before anything runs."""

from collections.abc import Mapping

from isogrid.frontend.definition import Definition
from isogrid.ir import kernel as k
from isogrid.launch.arguments import Arguments
from isogrid.launch.errors import RequirementError
from isogrid.launch.evaluate import CannotEvaluate, evaluate, values_text
from isogrid.launch.queued import on_host


def check_requirements(definition: Definition, kernel: k.Kernel, arguments: Arguments, dims: Mapping[str, int]) -> None:
    """Raise `RequirementError` for the first clause, in source order, that does not hold."""
    clauses = sorted([*kernel.requires, *kernel.facts], key=lambda c: (c.span.line, c.span.column))
    for clause in clauses:
        broken = _broken(clause, arguments, dims)
        if broken is not None:
            raise RequirementError(f"{definition.name}() requires `{clause.text}`{broken}\n  {clause.span}")


def _broken(clause: k.Require | k.ArrayFact, arguments: Arguments, dims: Mapping[str, int]) -> str | None:
    try:
        if isinstance(clause, k.ArrayFact):
            from isogrid.launch.facts import broken_fact

            broken = broken_fact(clause, on_host(arguments.arrays, clause), arguments.scalars, dims)
            return None if broken is None else f": {broken}"
        values = values_text(clause.condition, arguments.scalars, dims)
        given = f": {values}" if values else ""
        return None if evaluate(clause.condition, arguments.scalars, dims) else given
    except CannotEvaluate as fault:
        return f", which has no value: {fault}"
