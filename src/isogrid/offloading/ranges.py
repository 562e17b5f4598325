"""What is known of the indices of an accepted loop before it runs: checks of the call, and facts that spare checks.

A check is about an access that every iteration makes: where its indices leave the array the call is refused. A fact is
about any access whose extremes the bounds of the loops give: where all facts hold, the loop runs without checks there.
"""

from typing import TypeAlias

from isogrid.analysis.linear import ZERO, Polynomial
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Space
from isogrid.ir.walk import map_expr, visit
from isogrid.offloading.forms import Forms, Kind
from isogrid.offloading.loop_facts import Access
from isogrid.offloading.proof import Accepted
from isogrid.support.records import dataclass

#: A condition `polynomial >= 0`.
Fact: TypeAlias = Polynomial


@dataclass(frozen=True, slots=True)
class IndexCheck:
    """Along `axis` of `array`, every iteration i touches `coefficient * i + rest`."""

    array: str
    axis: int
    coefficient: Polynomial
    rest: Polynomial
    writes: bool
    text: str
    line: int


def index_checks(accepted: Accepted) -> list[IndexCheck]:
    """The accesses that every iteration makes, at an index that its number decides."""
    one = accepted.candidate
    forms = one.forms
    found: dict[tuple[str, int, Polynomial], IndexCheck] = {}
    for access in one.facts.accesses:
        if not access.always or access.loops or access.node.space is not Space.GLOBAL:
            continue
        for axis, index in enumerate(access.node.indices):
            value = forms.of(index)
            part = forms.linear(value)
            if part is None or not all(forms.fixed(p) and computable(forms, p) for p in part):
                continue
            span = access.node.span
            text = one.text(span) if one.inside(span) else f"`{access.node.array}`"
            check = IndexCheck(access.node.array, axis, *part, access.writes, text, span.line)
            found.setdefault((check.array, axis, value), check)
    return list(found.values())


def computable(forms: Forms, value: Polynomial) -> bool:
    """Whether the call can compute a fixed value: no element of an array is in it."""
    for atom in value.atoms():
        expression = forms.atoms[atom].value
        if expression is None or any(isinstance(node, k.Load) for node in visit(expression)):
            return False
    return True


def facts_of_indices(accepted: Accepted, trips: k.Expr, shapes: dict[str, tuple[k.Expr, ...]]) -> list[Fact]:
    """Conditions over scalars and sizes that bring every access with known extremes into its array."""
    forms = accepted.candidate.forms
    loop = accepted.candidate.loop
    first = forms.of(loop.start)
    step = loop.step.value if isinstance(loop.step, k.Const) else 1
    last = forms.of(loop.stop).plus(-step) if abs(step) == 1 else first + (forms.of(trips).plus(-1)).scaled(step)
    if step < 0:
        first, last = last, first  # the least and the greatest value of the counter
    found: dict[Fact, None] = {}
    for access in accepted.candidate.facts.accesses:
        if access.node.space is not Space.GLOBAL:
            continue
        for axis, index in enumerate(access.node.indices):
            extremes = _extremes(forms, access, forms.of(index), first, last)
            if extremes is None:
                continue
            low, high, needed = extremes
            extent = forms.of(shapes[access.node.array][axis])
            for fact in (*needed, low, extent.plus(-1) - high):
                if not _certain(forms, fact) and computable(forms, fact):
                    found.setdefault(fact)
    return list(found)


def _extremes(
    forms: Forms, access: Access, value: Polynomial, first: Polynomial, last: Polynomial
) -> tuple[Polynomial, Polynomial, list[Fact]] | None:
    """Least and greatest value of an index over all iterations, and the signs that this takes for granted."""
    part = forms.linear(value)
    if part is None or not forms.fixed(part[0]) or not forms.fixed(first) or not forms.fixed(last):
        return None
    needed: list[Fact] = []
    coefficient, rest = part
    low, high = _term(coefficient, first, last, needed)
    for loop in access.loops:
        number = next((n for n, atom in enumerate(forms.atoms) if atom.loop is loop), None)
        if number is None or number not in rest.atoms():
            continue
        bounds = _bounds(forms, loop)
        split = _split(rest, number)
        if bounds is None or split is None or not forms.fixed(split[0]):
            return None
        coefficient, rest = split
        least, most = _term(coefficient, *bounds, needed)
        low, high = low + least, high + most
    return (low + rest, high + rest, needed) if forms.fixed(rest) else None


def _term(
    coefficient: Polynomial, first: Polynomial, last: Polynomial, needed: list[Fact]
) -> tuple[Polynomial, Polynomial]:
    """Extremes of `coefficient * x` for x between first and last; an unknown sign is taken to be plus."""
    if coefficient.constant is None:
        needed.append(coefficient)
    ends = (first, last) if (coefficient.constant or 0) >= 0 else (last, first)
    return coefficient * ends[0], coefficient * ends[1]


def _bounds(forms: Forms, loop: k.For) -> tuple[Polynomial, Polynomial] | None:
    if not isinstance(loop.step, k.Const) or loop.step.value != 1:
        return None
    start, stop = forms.of(loop.start), forms.of(loop.stop)
    return (start, stop.plus(-1)) if forms.fixed(start) and forms.fixed(stop) else None


def _split(value: Polynomial, atom: int) -> tuple[Polynomial, Polynomial] | None:
    """`(a, rest)` with value = a * atom + rest."""
    coefficient, rest = ZERO, ZERO
    for monomial, factor in value.terms:
        others = tuple(a for a in monomial if a != atom)
        if len(monomial) - len(others) > 1:
            return None
        term = Polynomial(((others, factor),))
        if len(others) < len(monomial):
            coefficient = coefficient + term
        else:
            rest = rest + term
    return coefficient, rest


def _certain(forms: Forms, fact: Fact) -> bool:
    """Whether a sum of sizes and plain numbers is at least 0 by itself."""
    return all(
        factor > 0 and all(isinstance(forms.atoms[a].value, k.DimValue) for a in monomial)
        for monomial, factor in fact.terms
    )


# --- as kernel IR ----------------------------------------------------------------------------------------------------


def condition_of(forms: Forms, fact: Fact) -> k.Expr:
    """`fact >= 0` as a condition over scalars and sizes: what is added on one side, what is taken off on the other."""
    plus = Polynomial(tuple((m, c) for m, c in fact.terms if c > 0))
    minus = Polynomial(tuple((m, -c) for m, c in fact.terms if c < 0))
    return k.Compare("ge", expression_of(forms, plus), expression_of(forms, minus))


def expression_of(forms: Forms, value: Polynomial) -> k.Expr:
    """A polynomial of fixed atoms as an index expression."""
    result: k.Expr | None = None
    for monomial, factor in value.terms:
        term: k.Expr | None = k.Const(factor, INDEX) if factor != 1 or not monomial else None
        for atom in monomial:
            part = as_index(scalars_for_locals(_fixed_value(forms, atom)))
            term = part if term is None else k.Binary("mul", term, part, INDEX)
        assert term is not None
        result = term if result is None else k.Binary("add", result, term, INDEX)
    return k.Const(0, INDEX) if result is None else result


def _fixed_value(forms: Forms, atom: int) -> k.Expr:
    value = forms.atoms[atom].value
    assert value is not None and forms.atoms[atom].kind is Kind.FIXED
    return value


def as_index(value: k.Expr) -> k.Expr:
    """The same integer as an index."""
    return value if value.type is INDEX else k.Cast(value, INDEX, checked=False)


def scalars_for_locals(value: k.Expr) -> k.Expr:
    """Locals that a loop is given are scalar parameters of its kernel, under the same names."""
    return map_expr(value, lambda node: k.ScalarValue(node.name, node.type) if isinstance(node, k.Local) else node)
