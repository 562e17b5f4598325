"""What preconditions on arrays say about equal indices of two threads.

    y[p[i]] = x[i]                          p distinct: equal elements of p stand at equal i
    for j in range(start[r], start[r+1])    start sorted: ranges of different r are disjoint, so equal j mean equal r

The arrays are never written by the launch, so each fact holds for every load.
"""

from collections.abc import Iterator
from typing import Any

from isogrid.analysis.symbolic.context import Context
from isogrid.analysis.symbolic.formula import Unknown, conjuncts
from isogrid.analysis.symbolic.linear import prove
from isogrid.analysis.symbolic.polynomial import Polynomial, one_number
from isogrid.analysis.symbolic.sides import Side
from isogrid.ir import kernel as k

_Pair = tuple[Polynomial, Polynomial]


def determined(c: Context, a: Side, b: Side, digits: list[_Pair]) -> list[_Pair]:
    """More pairs of values that are equal wherever the indices of both sides are."""
    found: list[_Pair] = []
    for fact in c.kernel.facts:
        if fact.kind == "distinct":
            for left, right in digits:
                found += _same_place(c, a, b, left, right, fact.array, fact.where)
        elif fact.kind == "is_sorted" and not fact.where:
            for left, right in zip(a.access.indices, b.access.indices, strict=True):
                rows = _segment(c, a, left, fact.array), _segment(c, b, right, fact.array)
                if rows[0] is not None and rows[1] is not None:
                    found.append((rows[0], rows[1]))
    return found


# --- distinct elements ------------------------------------------------------------------------------------------------


def _same_place(
    c: Context, a: Side, b: Side, left: Polynomial, right: Polynomial, array: str, where: str
) -> Iterator[_Pair]:
    """A digit that is one element of the array on both sides, at the same constant distance."""
    if not one_number(left.constant_term, right.constant_term):
        return
    x, y = (_loaded_at(c, p.without_constant(), array) for p in (left, right))
    if x is None or y is None:
        return
    if where and not (_flagged(c, a, x, where) and _flagged(c, b, y, where)):
        return
    yield from zip(x, y, strict=True)


def _loaded_at(c: Context, p: Polynomial, array: str) -> tuple[Polynomial, ...] | None:
    """The indices of the load of the array that the polynomial is."""
    if len(p.terms) != 1:
        return None
    ((monomial, coefficient),) = p.terms.items()
    if len(monomial) != 1 or not isinstance(coefficient, int) or coefficient != 1:
        return None
    return _indices(c, monomial[0], array)


def _indices(c: Context, atom: str, array: str) -> tuple[Polynomial, ...] | None:
    definition = c.atoms[atom].definition
    return definition[1] if definition is not None and definition[0] == f"load {array}" else None


def _flagged(c: Context, side: Side, indices: tuple[Polynomial, ...], where: str) -> bool:
    """Whether the thread is here only because the flag of this element is set."""
    flags = [g for g in conjuncts(side.access.guards) if isinstance(g, Unknown) and g.positive and g.name in c.atoms]
    return any(_indices(c, flag.name, where) == indices for flag in flags)


# --- sorted segments --------------------------------------------------------------------------------------------------


def _segment(c: Context, side: Side, index: Polynomial, array: str) -> Polynomial | None:
    """The r for which array[r] <= index < array[r + 1] is proved."""
    rows: list[tuple[str, Polynomial]] = []
    for name in _atoms_near(side, index):
        indices = _indices(c, name, array)
        if indices is not None and len(indices) == 1:
            rows.append((name, indices[0]))
    for low, row in rows:
        for high, following in rows:
            if following != row.shift(1):
                continue
            above, below = index - Polynomial.atom(low), (Polynomial.atom(high) - index).shift(-1)
            if prove(c, above, side.facts, side.mask) and prove(c, below, side.facts, side.mask):
                return row
    return None


def _atoms_near(side: Side, index: Polynomial) -> list[str]:
    """The atoms of the index and of the facts in force, in a fixed order."""
    found: dict[str, Any] = dict.fromkeys(index.atoms())
    for fact in side.facts:
        found.update(dict.fromkeys(fact.atoms()))
    return sorted(found)


# --- counterexamples --------------------------------------------------------------------------------------------------


def allows(facts: tuple[k.ArrayFact, ...], data: tuple[tuple[str, tuple[int, ...], int], ...]) -> bool:
    """Whether arrays that hold this data (array, index, value) may keep the facts; where it is hard to say, no."""
    held: dict[str, dict[tuple[int, ...], int]] = {}
    for array, index, value in data:
        held.setdefault(array, {})[index] = value
    return all(_allows(fact, held.get(fact.array, {}), held.get(fact.where, {})) for fact in facts)


def _allows(fact: k.ArrayFact, values: dict[tuple[int, ...], int], flags: dict[tuple[int, ...], int]) -> bool:
    # A flag that the counterexample says nothing about may be False.
    chosen = {i: v for i, v in values.items() if not fact.where or flags.get(i, 0)}
    match fact.kind:
        case "distinct":
            return len(set(chosen.values())) == len(chosen)
        case "is_sorted":
            ordered = [v for _, v in sorted(chosen.items())]
            return ordered == sorted(ordered)
        case _:
            # Unconditional ranges are among the guards of the accesses, which a counterexample keeps.
            return not (fact.where and chosen)
