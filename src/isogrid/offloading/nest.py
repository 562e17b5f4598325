"""A perfect nest whose inner loop is independent too: it becomes a grid of two axes."""

from typing import Final

from isogrid.analysis.linear import Polynomial
from isogrid.ir import kernel as k
from isogrid.ir.assignment import early_reads
from isogrid.ir.walk import statements, visit
from isogrid.offloading.forms import COUNTER, Forms, Kind
from isogrid.offloading.proof import Accepted, assigned_in
from isogrid.offloading.ranges import computable
from isogrid.offloading.rule4_reads import beside

#: Inner loops of so few trips stay loops: rows that short would leave most of a vector idle.
SHORTEST: Final = 16


def inner_loop(accepted: Accepted) -> k.For | None:
    """The inner loop of such a nest, or None."""
    body = accepted.candidate.loop.body
    if len(body) != 1 or not isinstance(body[0], k.For) or accepted.reductions:
        return None
    if beside(accepted.candidate, accepted.written):
        return None  # elements of the row that other trips of the inner loop write
    inner = body[0]
    if not isinstance(inner.step, k.Const) or inner.step.value == 0 or _leaves(inner.body):
        return None
    forms = accepted.candidate.forms
    bounds = (forms.of(inner.start), forms.of(inner.stop))
    if not all(forms.fixed(bound) and computable(forms, bound) for bound in bounds):
        return None
    trips = (bounds[1] - bounds[0]).constant
    if trips is not None and abs(trips) < SHORTEST * abs(inner.step.value):
        return None
    return inner if _names_are_own(inner) and _elements_are_own(accepted, inner) else None


def _leaves(block: k.Block) -> bool:
    """Whether a `break` of the loop itself is in its body."""
    for node in block:
        match node:
            case k.Break():
                return True
            case k.For() | k.While():
                pass
            case _:
                if _leaves(statements(node)):
                    return True
    return False


def _names_are_own(inner: k.For) -> bool:
    """Whether each trip gives every name its value before it reads it."""
    names = assigned_in(inner.body)
    if inner.counter in names:
        return False
    others = {node.name for node in visit(inner.body) if isinstance(node, k.Local)} - names
    return not early_reads(inner.body, others)


def _elements_are_own(accepted: Accepted, inner: k.For) -> bool:
    """Whether every written index, the same at all writes of an array, tells both counters."""
    forms = accepted.candidate.forms
    number = next((n for n, atom in enumerate(forms.atoms) if atom.loop is inner), None)
    for written in accepted.written.values():
        if written.kind == "scatter":
            continue
        first = written.indices[0]
        if number is None or any(index != first for index in written.indices):
            return False
        if not _tells(forms, written.kind, written.axis, first, number):
            return False
    return True


def _tells(forms: Forms, kind: str, axis: int, index: tuple[Polynomial, ...], number: int) -> bool:
    if kind == "tile":
        return _coefficient(forms, index[axis], number) == 1
    others = [part for at, part in enumerate(index) if at != axis]
    return any(_coefficient(forms, part, number) for part in others)


def _coefficient(forms: Forms, value: Polynomial, number: int) -> int:
    """The constant factor of the inner counter in an index of it, the outer counter and fixed values; else 0."""
    found = 0
    for monomial, factor in value.terms:
        if number in monomial:
            if monomial != (number,):
                return 0
            found = factor
        elif not all(atom == COUNTER or forms.kind(atom) is Kind.FIXED for atom in monomial):
            return 0
    return found
